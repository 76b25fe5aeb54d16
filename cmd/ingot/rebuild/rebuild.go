package rebuild

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/worker"
)

const rebuildHelp = `Brings older items into aggregates that were added or changed. It touches every item that an older pipeline.yaml has
written, so that the stream delivers the item again. Then it waits until the streams function has counted these items,
verifies, and declares the aggregates complete.

It first prints what it reads and writes, and what that costs. --dry-run stops there. Above 1,000,000 units it asks
you, or needs --yes. You may stop it at any time and run it again: an item that was touched is not touched again. With
--work, it does not even read again what it has read.

--all is for every aggregate that says it is not complete. If all say that they are, the command reads one page of
events and looks up their totals, because an aggregates table that was lost and created again does not know what it
lacks. One page proves nothing: if newer events have created a total again, it is there, but too small. Only ingot
verify proves that nothing is missing.

If the payload of an older item is in the payload bucket, it is read from there, because the item may not keep what a
new aggregate uses. An item whose payload is lost is named and not touched. No new aggregate is complete until the
object is back or the event is erased.

--rate limits reads and writes together, and so how fast the stream brings the items to the streams function.

An aggregate can be declared complete only at a moment when no change is on its way. On a busy stack this needs a
pause: ingot pause, then ingot rebuild, then ingot resume. Without a pause, the command touches all items, and a later
one during a pause only has to finish.

--accept only takes flags off instead, and notes on each total or aggregate when that was and who did it. Reads go
on to show the flag as accepted, and ingot status no longer calls the stack unwell for it. Without --yes it only
shows the flags. A flag that changes at that moment is left alone and named.

An aggregate that is called parts or mend is named after --, as in ingot rebuild -- parts.

Exit code 3: not complete yet, or not all accepted. 6: not known whether it is complete.`

// rebuildJSON documents --output json. A test compares it with rebuilt.
const rebuildJSON = `
  scanned, touched        how many items were read, and how many were touched
  payloads                how many payloads the touch pass has read from the payload bucket; absent if none
  readUnits, writeUnits   what the touch pass and verify took of the two tables
  complete[]              the aggregates that are complete
  flagged                 how many totals and aggregates of the pipeline have a flag; absent if none
  standing[]              why the other aggregates are not complete
  accepted[]              with --accept: aggregate, since, by and window of each total, and its flag; of an aggregate's
                          own flag, by and window are absent`

// Rebuilt is the JSON of rebuild.
type Rebuilt struct {
	Scanned    int      `json:"scanned"`
	Touched    int      `json:"touched"`
	Payloads   int      `json:"payloads,omitempty"`
	ReadUnits  float64  `json:"readUnits"`
	WriteUnits float64  `json:"writeUnits"`
	Complete   []string `json:"complete"`
	Flagged    int      `json:"flagged,omitempty"`
	Standing   []string `json:"standing"`

	Accepted []acceptedTotal `json:"accepted,omitempty"`
}

func newRebuild(a *app) *cobra.Command {
	var o pass.Options
	var all, accept bool
	cmd := &cobra.Command{
		Use:   "rebuild AGGREGATE…",
		Short: "Bring older items into aggregates, and declare the aggregates complete",
		Long:  rebuildHelp,
		Example: `  ingot rebuild orders_daily --local
  ingot rebuild --all --local --dry-run
  ingot rebuild orders_daily --stack shop
  ingot rebuild orders_daily --stack shop --segments 8 --rate 2000 --work ./rebuild-work
  ingot rebuild --accept orders_daily --stack shop --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(worker.Verify); err != nil {
				return cli.Usage(err)
			}
			switch {
			case accept && all:
				return cli.Usagef("--all and --accept are different tasks: write one of them")
			case accept && cmd.Flags().Changed("work"):
				return cli.Usagef("--accept keeps nothing in a folder: leave --work out")
			case accept:
				return a.rebuildAccept(cmd, o, args)
			}
			if all == (len(args) > 0) {
				return cli.Usagef("name the aggregates to rebuild, or write --all")
			}
			return a.rebuild(cmd, o, args)
		},
	}
	command.OnPipeline(cmd, rebuildJSON)
	flags := cmd.Flags()
	flags.BoolVar(&all, "all", false, "rebuild every aggregate that is not complete")
	flags.BoolVar(&accept, "accept", false, "accept the flags of totals and aggregates instead")
	o.WorkFlag(flags)
	o.PassFlags(flags)
	o.PatienceFlag(flags, "how long to wait for the stream")
	cmd.AddCommand(newRebuildParts(a), newRebuildMend(a))
	return cmd
}

func (a *app) rebuild(cmd *cobra.Command, o pass.Options, names []string) error {
	ctx := cmd.Context()
	s, err := pass.Open(ctx, a.App, repairing)
	if err != nil {
		return err
	}
	out := Rebuilt{Complete: []string{}, Standing: []string{}}
	defs, err := meant(ctx, s, names)
	if err == nil && len(defs) == 0 {
		defs, out.Standing, err = a.doubtful(ctx, s, o.Patience)
	}
	if err != nil {
		return err
	}
	if len(defs) == 0 {
		return a.rebuilt(out)
	}
	c, err := s.Config(a.App, &o)
	if err != nil {
		return err
	}
	price, err := pass.PriceOfRebuild(ctx, s.Target)
	if err != nil {
		return err
	}
	if s.Plan.UsesOffload() && price.Items > 0 {
		price.Note += ", nor is one GET from S3 for each touched item whose payload is in the payload bucket"
	}
	a.Say("on a busy stack, an aggregate can be declared complete only during a pause: ingot pause")
	if begin, err := o.Begin(a.App, "rebuild takes", price, s.Target); !begin {
		return err
	}
	passes := make([]tables.Pass, len(defs))
	for i, def := range defs {
		if passes[i], err = repair.Of(s.Store).BeginPass(ctx, def); err != nil {
			return err
		}
	}
	if err := a.touchAll(ctx, s, c, o, price.Items, &out); err != nil {
		return err
	}
	c.Work = nil // an earlier call may have read the tables before the latest events came
	var report *verify.Report
	err = o.Run(ctx, a.App, &c.Config, pass.Part{Name: "reading", Of: price.Items + price.Others, Lost: untouched}, func() (err error) {
		report, err = verify.Run(ctx, c)
		return err
	})
	if err != nil {
		return err
	}
	if err := a.finish(ctx, s, report, passes, &out); err != nil {
		return err
	}
	return a.rebuilt(out)
}

// untouched is what is lost without --work if a rebuild is stopped.
const untouched = "touched items are not touched again"

// doubtful returns the aggregates that are to be rebuilt although they say that they are complete,
// because the first events are not counted in them. standing says why others cannot be rebuilt.
// Then defs is empty.
func (a *app) doubtful(ctx context.Context, s pass.Opened, patience time.Duration) (defs []*aggregate.Definition, standing []string,
	err error) {
	d, err := doubtsOf(ctx, s, a.Clock.Real().Now())
	if err != nil {
		return nil, nil, err
	}
	if standing, err = a.lost(ctx, s, d, patience); err != nil || len(standing) > 0 {
		return nil, standing, err
	}
	if len(d.behind) == 0 {
		a.Say("there is nothing to rebuild: every aggregate is recorded as complete, and none lacks the oldest events. To prove it, run ingot verify")
	}
	return d.behind, []string{}, nil
}

// touchAll touches every item that is stamped below the pipeline's epoch, and waits until the
// stream has counted that.
func (a *app) touchAll(ctx context.Context, s pass.Opened, c verify.Config, o pass.Options, items int, out *Rebuilt) error {
	err := o.Run(ctx, a.App, &c.Config, pass.Part{Name: "touching", Of: items, Lost: untouched}, func() error {
		touched, err := verify.Touch(ctx, c, s.Store)
		out.Payloads = touched.Payloads
		out.Scanned, out.Touched, out.ReadUnits, out.WriteUnits = touched.Scanned, touched.Touched.Touched, touched.Reads, touched.Writes
		return err
	})
	a.Say("touched %s of %s", show.Comma(out.Touched), show.Count(out.Scanned, "item"))
	if err != nil {
		return err
	}
	if _, unsure := a.Lag(s.Target, o.Patience).Counted(ctx); unsure != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.Say("everything is touched, but it is not known whether the stream has counted it: %s; run the same command again",
			show.Error(unsure))
		return cli.Unsure()
	}
	return nil
}

// finish declares the generation of each pass complete if nothing in a report prevents it.
func (a *app) finish(ctx context.Context, s pass.Opened, report *verify.Report, passes []tables.Pass, out *Rebuilt) error {
	out.ReadUnits += report.Units
	out.Flagged = len(report.Flagged) + report.More.Flagged
	for _, pass := range passes {
		standing, err := report.Finish(ctx, s.Plan, s.Store, pass, a.Clock.Real().Now())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Standing = append(out.Standing, fmt.Sprintf("%s: %v", pass.Definition, err))
		case len(standing) > 0:
			out.Standing = append(out.Standing, fmt.Sprintf("%s: %s in its totals; if events flow, pause first", pass.Definition,
				show.Count(len(standing), "difference")))
		default:
			out.Complete = append(out.Complete, pass.Definition.String())
		}
	}
	return nil
}

// meant returns the aggregates to rebuild: the named ones, or else all that are not complete.
func meant(ctx context.Context, s pass.Opened, names []string) (defs []*aggregate.Definition, err error) {
	for _, name := range names {
		def, ok := s.Plan.Definition(name)
		if !ok {
			known := slices.Sorted(maps.Keys(s.Plan.Describe().Spec.Aggregates))
			return nil, cli.Usagef("the pipeline has no aggregate %q; it has %s", name, strings.Join(known, ", "))
		}
		defs = append(defs, def)
	}
	if len(names) > 0 {
		return defs, nil
	}
	for _, def := range s.Plan.Definitions() {
		head, err := s.Store.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		if head == nil || head.Building {
			defs = append(defs, def)
		}
	}
	return defs, nil
}

func (a *app) rebuilt(out Rebuilt) error {
	err := a.Print(out, func(b *strings.Builder) {
		for _, one := range out.Complete {
			fmt.Fprintf(b, "complete: %s\n", one)
		}
		for _, one := range out.Standing {
			fmt.Fprintf(b, "not complete: %s\n", show.Text(one))
		}
		if out.Flagged > 0 {
			a.Say("%s not proven: ingot verify names what is flagged, and ingot rebuild mend mends what it can",
				show.Count(out.Flagged, "total"))
		}
	})
	return cli.Differs(err, len(out.Standing) > 0)
}
