// Hunt lives worlds until one of them breaks one of the named promises. It prints what it found as
// one line of JSON. The runner of the mutants builds it once, with all mutants grafted onto our
// source. INGOT_MUTANT names the mutant that it runs as.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/chain"
	"github.com/ingot-events/ingot/internal/prove/sim/draining"
	"github.com/ingot-events/ingot/internal/prove/sim/moving"
	"github.com/ingot-events/ingot/internal/prove/sim/mutants/hunt/found"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

func main() {
	from := flag.Uint64("from", 0, "the first seed")
	n := flag.Int("n", 500, "the most worlds to live from there on")
	first := flag.String("first", "", "seeds to live before those, with commas between")
	still := flag.Bool("fault-free", false, "live worlds without trouble")
	worlds := flag.String("worlds", "", "moving, chain or draining: other worlds than those of one Ingot")
	checks := flag.String("checks", "", "the checks to look for, with commas between; empty: any")
	flag.Parse()
	var named []string
	if *checks != "" {
		named = strings.Split(*checks, ",")
	}
	seeds, err := seedsOf(*first, *from, *n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunt:", err)
		os.Exit(2)
	}
	var live func(seed uint64) *stage.Failure
	switch {
	case *worlds == "moving":
		live = func(seed uint64) *stage.Failure { return moving.Live(seed, *still).Failure }
	case *worlds == "chain":
		live = func(seed uint64) *stage.Failure { return chain.Live(seed, *still).Failure }
	case *worlds == "draining":
		live = func(seed uint64) *stage.Failure { return draining.Live(seed, *still).Failure }
	case *still:
		live = func(seed uint64) *stage.Failure { return sim.Live(sim.StillPlan(seed), false).Failure }
	default:
		live = func(seed uint64) *stage.Failure { return sim.Run(seed).Failure }
	}
	json.NewEncoder(os.Stdout).Encode(hunt(live, seeds, named))
}

// seedsOf returns the seeds to live, each once.
func seedsOf(first string, from uint64, n int) ([]uint64, error) {
	var seeds []uint64
	for _, text := range strings.FieldsFunc(first, func(r rune) bool { return r == ',' }) {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-first: %w", err)
		}
		seeds = append(seeds, seed)
	}
	for seed := from; seed < from+uint64(n); seed++ {
		if !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	return seeds, nil
}

func hunt(live func(seed uint64) *stage.Failure, seeds []uint64, checks []string) found.Found {
	f := found.Found{Others: map[string]int{}}
	for _, seed := range seeds {
		f.Worlds++
		failure := live(seed)
		if failure == nil {
			continue
		}
		check := string(failure.Check)
		if len(checks) == 0 || slices.Contains(checks, check) {
			f.Check, f.Seed, f.Detail = check, seed, failure.Error()
			return f
		}
		f.Others[check]++
	}
	return f
}
