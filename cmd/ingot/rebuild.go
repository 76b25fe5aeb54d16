package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/show"
	"github.com/ingot-events/ingot/verify"
)

const rebuildHelp = `Brings older items into aggregates that were added or changed: it touches every item that an older pipeline.yaml has
written, waits until the stream has counted that, verifies, and declares the aggregates complete.

What it reads and writes, and what that costs, is printed first; --dry-run stops there. It may be stopped at any time
and run again: an item that was touched is not touched again.

An aggregate can be declared complete only at a moment when nothing is in motion. On a busy stack this needs a pause:
ingot pause, then ingot rebuild, then ingot resume. Without one, the touch pass still does its work, and a rebuild
during a pause later only has to finish.

Exit codes: 0 complete, 1 failed, 2 usage, 3 not complete yet, 4 not permitted, 5 refused, 6 could not tell.

` + targetHelp + `

` + rebuildJSON

// rebuildJSON documents --output json. A test compares it with rebuilt.
const rebuildJSON = `With --output json, one object:
  scanned, touched        items seen, and items that were touched
  complete[]              the aggregates that are complete
  standing[]              what keeps the others from being complete`

// rebuilt is the JSON of rebuild.
type rebuilt struct {
	Scanned  int      `json:"scanned"`
	Touched  int      `json:"touched"`
	Complete []string `json:"complete"`
	Standing []string `json:"standing"`
}

func newRebuild(a *app) *cobra.Command {
	var o verifyOptions
	var all bool
	cmd := &cobra.Command{
		Use:   "rebuild AGGREGATE…",
		Short: "Bring older items into aggregates and declare them complete",
		Long:  rebuildHelp,
		Example: `  ingot rebuild orders_daily --local
  ingot rebuild --all --local --dry-run
  ingot rebuild orders_daily --stack shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := namesFiles(cmd, "prices"); err != nil {
				return err
			}
			if all == (len(args) > 0) {
				return usage(errors.New("name the aggregates to rebuild, or write --all"))
			}
			if o.patience < 0 {
				return usage(fmt.Errorf("--patience %s: give a time such as 15m", o.patience))
			}
			return a.rebuild(cmd, o, args)
		},
	}
	targetFlags(cmd)
	deployedFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&all, "all", false, "rebuild every aggregate that is not complete")
	flags.BoolVar(&o.dry, "dry-run", false, "only print what is going to be read and written, and what it costs")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask, however much it costs")
	flags.DurationVar(&o.patience, "patience", 15*time.Minute, "how long to wait for the stream")
	flags.StringVar(&o.prices, "prices", "", "a file of prices (default those of us-east-1 that the tool brings)")
	return cmd
}

func (a *app) rebuild(cmd *cobra.Command, o verifyOptions, names []string) error {
	ctx := cmd.Context()
	v, err := a.verifying(cmd, true)
	if err != nil {
		return err
	}
	defs, err := v.meant(ctx, names)
	if err != nil || len(defs) == 0 {
		if err == nil {
			fmt.Fprintln(a.stderr, "ingot: every aggregate is complete; nothing is to do")
			return a.rebuilt(rebuilt{Complete: []string{}, Standing: []string{}})
		}
		return err
	}
	price, err := v.price(ctx, "", 2, 1) // the touch pass reads the items, and verify reads both
	if err != nil {
		return err
	}
	price.writes, price.note = float64(price.items), "if every item is touched, has at most 1 KB and is in no index; what the streams function then counts is not in it"
	if err := price.inDollars(o.prices); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "ingot: rebuild takes %s\n", price)
	fmt.Fprintln(a.stderr, "ingot: on a busy stack, an aggregate can be declared complete only during a pause: ingot pause")
	if o.dry {
		return a.showPrice(price)
	}
	if err := a.announce(v.target); err != nil {
		return err
	}
	if err := a.affordable(price, o.yes); err != nil {
		return err
	}
	out := rebuilt{Complete: []string{}, Standing: []string{}}
	behind := map[*aggregate.Definition]int64{}
	for _, def := range defs {
		if behind[def], err = v.store.BeginPass(ctx, def); err != nil {
			return err
		}
	}
	touched, err := v.store.Touch(ctx)
	out.Scanned, out.Touched = touched.Scanned, touched.Touched
	fmt.Fprintf(a.stderr, "ingot: touched %s of %s\n", show.Comma(touched.Touched), show.Count(touched.Scanned, "item"))
	if err != nil {
		return err
	}
	if unsure := a.awaitStream(ctx, v, o.patience); unsure != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(a.stderr, "ingot: everything is touched, but whether the stream has counted it could not be told: %v; run the same command again\n", unsure)
		return untold()
	}
	for _, def := range defs {
		standing, err := verify.Finish(ctx, v.plan, v.store, def, behind[def], time.Now())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Standing = append(out.Standing, fmt.Sprintf("%s: %v", def, err))
		case len(standing) > 0:
			out.Standing = append(out.Standing, fmt.Sprintf("%s: %s in its totals; if events flow, pause first", def, show.Count(len(standing), "difference")))
		default:
			out.Complete = append(out.Complete, def.String())
		}
	}
	return a.rebuilt(out)
}

// meant returns the aggregates that a rebuild is about: those that are named, or else those that
// are not complete.
func (v verifying) meant(ctx context.Context, names []string) (defs []*aggregate.Definition, err error) {
	for _, name := range names {
		def, ok := v.plan.Definition(name)
		if !ok {
			var known []string
			for _, d := range v.plan.Definitions() {
				known = append(known, d.Name)
			}
			return nil, usage(fmt.Errorf("the pipeline has no aggregate %q; it has %s", name, strings.Join(known, ", ")))
		}
		defs = append(defs, def)
	}
	if len(names) > 0 {
		return defs, nil
	}
	for _, def := range v.plan.Definitions() {
		head, err := v.store.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		if head == nil || head.Building {
			defs = append(defs, def)
		}
	}
	return defs, nil
}

// awaitStream waits until the stream has counted everything up to now.
func (a *app) awaitStream(ctx context.Context, v verifying, patience time.Duration) error {
	lag, clock := a.lag(v.target), a.clock.Real()
	now := clock.Now()
	for {
		counted, err := lag.Counted(ctx)
		if err != nil {
			return err
		}
		if !counted.Before(now) {
			return nil
		}
		if clock.Now().Sub(now) >= patience {
			return fmt.Errorf("after %s it has not", patience)
		}
		if err := clock.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (a *app) rebuilt(out rebuilt) error {
	if a.json() {
		if err := a.writeJSON(out); err != nil {
			return err
		}
	} else {
		for _, one := range out.Complete {
			fmt.Fprintf(a.stdout, "complete: %s\n", one)
		}
		for _, one := range out.Standing {
			fmt.Fprintf(a.stdout, "not complete: %s\n", show.Text(one))
		}
	}
	if len(out.Standing) > 0 {
		return difference()
	}
	return nil
}
