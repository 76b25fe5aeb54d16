package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/shrink"
	"github.com/ingot-events/ingot/internal/prove/sim/survey"
)

// planOf returns the world of a seed in the form that the flags ask for.
func (o options) planOf(seed uint64) sim.Plan {
	if o.faultFree {
		return sim.StillPlan(seed)
	}
	return sim.NewPlan(seed)
}

// live lives worlds until there are enough or one fails. o.workers of them run at a time, each on
// one worker. It returns the failed world with the lowest seed. If the minutes are over before
// there are enough worlds to judge, it goes on. So a slow machine takes longer, but does not prove
// less.
func live(ctx context.Context, o options, seen *survey.Survey) (failed *sim.Result) {
	var mu sync.Mutex
	next, end := o.from, o.from+uint64(o.worlds)
	until := time.Now().Add(time.Duration(o.minutes * float64(time.Minute)))
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		enough := next == end
		if o.minutes > 0 {
			enough = time.Now().After(until) && (o.faultFree || next-o.from >= survey.Few)
		}
		if enough || failed != nil || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var all sync.WaitGroup
	for range o.workers {
		all.Go(func() {
			for seed, more := take(); more; seed, more = take() {
				r := o.life(o.planOf(seed), false)
				mu.Lock()
				seen.Add(r.Stats)
				if r.Failure != nil && (failed == nil || r.Plan.Seed < failed.Plan.Seed) {
					failed = &r
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// one lives one world.
func one(o options, out, talk io.Writer) int {
	plan := o.planOf(uint64(o.seed))
	if o.plan != "" {
		decoder := json.NewDecoder(strings.NewReader(o.plan))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&plan); err != nil {
			fmt.Fprintln(talk, "worlds: -plan:", err)
			return 2
		}
	}
	r := o.life(plan, o.trace)
	if o.machine {
		if r.Failure != nil {
			return report(out, &r)
		}
		return report(out, nil)
	}
	fmt.Fprint(out, r.Trace)
	if r.Failure != nil {
		fmt.Fprintf(out, "seed %d: %v\n", o.seed, r.Failure)
		return 1
	}
	fmt.Fprintf(out, "seed %d: every promise kept in %d steps, %d messages\n", o.seed, r.Stats.Steps, r.Stats.Sent)
	return 0
}

// report prints a failure for other programs; {} if there is none.
func report(out io.Writer, failed *sim.Result) int {
	if failed == nil {
		fmt.Fprintln(out, "{}")
		return 0
	}
	line, _ := json.Marshal(struct {
		Seed   uint64    `json:"seed"`
		Check  sim.Check `json:"check"`
		Detail string    `json:"detail"`
	}{failed.Plan.Seed, failed.Failure.Check, failed.Failure.Detail}) // strings and a number: Marshal cannot fail
	fmt.Fprintf(out, "%s\n", line)
	return 1
}

const (
	shrinkTries = 400
	lastLines   = 60
)

// explain shrinks a failed world to one that a person can read, and says how to see it again.
func explain(o options, failed sim.Result, out io.Writer) int {
	seed := failed.Plan.Seed
	fmt.Fprintf(out, "seed %d: %v\n", seed, failed.Failure)
	small := sim.Shrink(failed.Plan, failed.Failure.Check, shrinkTries, func(p sim.Plan) sim.Result { return o.life(p, false) })
	told := o.life(small, true)
	overlay := shrink.Overlay(o.planOf(seed), small)
	fmt.Fprintf(out, "shrunk to %d phases of %d messages: %v\n", small.Phases, small.Messages, told.Failure)
	lines := strings.Split(strings.TrimRight(told.Trace, "\n"), "\n")
	if cut := len(lines) - lastLines; cut > 0 {
		fmt.Fprintf(out, "... %d lines before\n", cut)
		lines = lines[cut:]
	}
	fmt.Fprintln(out, strings.Join(lines, "\n"))
	free := ""
	if o.faultFree {
		free = " -fault-free"
	}
	fmt.Fprintf(out,
		"\nreplay: go run ./internal/prove/sim/worlds%s -seed %d -trace -plan '%s'\nwhole:  go run ./internal/prove/sim/worlds%s -seed %d -trace\n", free, seed, overlay, free, seed)
	return 1
}
