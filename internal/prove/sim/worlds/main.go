// Command worlds lives seeded worlds and says what happened in them. It fails if a promise was
// broken, or if the worlds were too kind to prove anything. `make sim` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], sim.Live, os.Stdout, os.Stderr))
}

const usage = `usage: go run ./internal/prove/sim/worlds [flags]

  -n 2000        how many worlds
  -minutes 0     instead of a number: as many as fit, and at least 500
  -from 0        the first seed
  -fresh         begin at a random seed, and print it
  -seed N        live this one world alone
  -plan JSON     with -seed: change its plan, as a shrunk failure says
  -trace         with -seed: print what happens in it
  -fault-free    worlds in which nothing goes wrong
  -json          print the first failure alone, as JSON
  -workers 2     worlds at a time

exit code: 0 every promise kept, 1 one was broken or the worlds proved too little, 2 usage`

// memory is how many bytes the command takes before it collects garbage.
const memory = 512 << 20

// options holds the flags, and the function that lives a plan: sim.Live, except in tests.
type options struct {
	life               func(plan sim.Plan, trace bool) sim.Result
	worlds             int
	minutes            float64
	from               uint64
	fresh, trace       bool
	seed               int64
	plan               string
	faultFree, machine bool
	workers            int
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("worlds", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.worlds, "n", 2000, "")
	flags.Float64Var(&o.minutes, "minutes", 0, "")
	flags.Uint64Var(&o.from, "from", 0, "")
	flags.BoolVar(&o.fresh, "fresh", false, "")
	flags.Int64Var(&o.seed, "seed", -1, "")
	flags.StringVar(&o.plan, "plan", "", "")
	flags.BoolVar(&o.trace, "trace", false, "")
	flags.BoolVar(&o.faultFree, "fault-free", false, "")
	flags.BoolVar(&o.machine, "json", false, "")
	flags.IntVar(&o.workers, "workers", 2, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.worlds < 1 || o.workers < 1 || o.minutes < 0:
		return o, errors.New("-n, -workers and -minutes count upwards")
	case o.seed < 0 && (o.plan != "" || o.trace):
		return o, errors.New("-plan and -trace are for one world: name it with -seed")
	}
	if o.fresh {
		o.from = rand.Uint64N(1 << 40)
	}
	return o, nil
}

func run(ctx context.Context, args []string, life func(sim.Plan, bool) sim.Result, out, talk io.Writer) int {
	o, err := parse(args)
	o.life = life
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(talk, "worlds:", err)
		}
		fmt.Fprintln(talk, usage)
		return 2
	}
	// A world makes much garbage and keeps little. Collecting only when memory runs out saves a
	// fifth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.workers))
	if o.seed >= 0 {
		return one(o, out, talk)
	}
	return many(ctx, o, out)
}

// many lives worlds until one fails or there are enough.
func many(ctx context.Context, o options, out io.Writer) int {
	if o.fresh && !o.machine {
		fmt.Fprintf(out, "from seed %d\n", o.from)
	}
	began := time.Now()
	survey := sim.NewSurvey()
	failed := live(ctx, o, survey)
	elapsed := time.Since(began)
	if o.machine {
		return report(out, failed)
	}
	if failed != nil {
		return explain(o, *failed, out)
	}
	survey.Print(out)
	if ctx.Err() != nil {
		fmt.Fprintf(out, "\nstopped early, after %d worlds\n", survey.Worlds)
		return 1
	}
	fmt.Fprintf(out, "\n%d worlds, seeds %d to %d, 0 wrong; %.0f worlds a minute\n", survey.Worlds, o.from, o.from+uint64(survey.Worlds)-1,
		float64(survey.Worlds)/elapsed.Minutes())
	if o.faultFree {
		return 0
	}
	shortfalls := survey.Shortfalls()
	for _, why := range shortfalls {
		fmt.Fprintln(out, "too little:", why)
	}
	return min(1, len(shortfalls))
}
