// Hunt lives worlds until one of them breaks one of the promises named, and says which as one line of JSON.
// The mutants' runner builds it anew for each mutant, with that mutant's files laid over ours.
package main

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/sim"
	"github.com/ingot-events/ingot/internal/sim/mutants/hunt/found"
)

func main() {
	from := flag.Uint64("from", 0, "the first seed")
	n := flag.Int("n", 500, "the most worlds to live")
	still := flag.Bool("fault-free", false, "live worlds without trouble")
	checks := flag.String("checks", "", "the checks to look for, with commas between; empty: any")
	flag.Parse()
	var named []string
	if *checks != "" {
		named = strings.Split(*checks, ",")
	}
	json.NewEncoder(os.Stdout).Encode(hunt(sim.Live, *from, *n, *still, named))
}

func hunt(live func(sim.Plan, bool) sim.Result, from uint64, n int, still bool, checks []string) found.Found {
	f := found.Found{Others: map[string]int{}}
	for seed := from; f.Worlds < n; seed++ {
		plan := sim.NewPlan(seed)
		if still {
			plan = sim.StillPlan(seed)
		}
		f.Worlds++
		r := live(plan, false)
		if r.Failure == nil {
			continue
		}
		check := string(r.Failure.Check)
		if len(checks) == 0 || slices.Contains(checks, check) {
			f.Check, f.Seed, f.Detail = check, seed, r.Failure.Error()
			return f
		}
		f.Others[check]++
	}
	return f
}
