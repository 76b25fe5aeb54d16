package rebuild

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/worker"
)

const mendHelp = `Changes single totals in place: those that differ from their items, as ingot verify says, and those that have a flag.
Each gets what its items add up to, and its flag is taken off. It needs no change of pipeline.yaml, and events may
flow. Without a name, it is about all aggregates.

A total that changes at that moment is left alone and named; run the command again, or pause first. A total that holds
events that have expired cannot be mended, because they cannot be added up again.

It first prints what it reads, and what that costs, as ingot rebuild does.

Exit code 3: not all are mended.`

// mendJSON documents --output json. A test compares it with mended.
const mendJSON = `
  readUnits               what it took of the two tables
  mended[]                aggregate, since, by and window of each total; and why, if it is not mended`

// mended is the JSON of what rebuild mend did.
type mended struct {
	ReadUnits float64       `json:"readUnits"`
	Mended    []mendedTotal `json:"mended"`
}

// mendedTotal is one that is mended, or is not.
type mendedTotal struct {
	show.Total
	Why string `json:"why,omitempty"` // why it is not mended
}

func newRebuildMend(a *app) *cobra.Command {
	var o pass.Options
	cmd := &cobra.Command{
		Use:   "mend AGGREGATE…",
		Short: "Mend single totals that differ from their items, or are flagged",
		Long:  mendHelp,
		Example: `  ingot rebuild mend --local
  ingot rebuild mend orders_daily --stack shop --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(worker.Verify); err != nil {
				return cli.Usage(err)
			}
			return a.rebuildMend(cmd, o, args)
		},
	}
	command.OnPipeline(cmd, mendJSON)
	o.PassFlags(cmd.Flags())
	o.PatienceFlag(cmd.Flags(), "how long to wait for the stream")
	return cmd
}

// acceptedTotal is one whose flag is accepted.
type acceptedTotal struct {
	show.Total
	Flag string `json:"flag"`

	key  event.Key
	flag string // with what Flag masks
}

// rebuildMend mends the totals that differ from their items or have a flag.
func (a *app) rebuildMend(cmd *cobra.Command, o pass.Options, names []string) error {
	ctx := cmd.Context()
	s, defs, err := a.opened(ctx, names)
	if err != nil {
		return err
	}
	c, err := s.Config(a.App, &o)
	if err != nil {
		return err
	}
	price, err := pass.PriceOf(ctx, s.Target, 2)
	if err != nil {
		return err
	}
	price.Note = "if something is to be mended; otherwise half of that"
	if begin, err := o.Begin(a.App, "rebuild mend takes", price, s.Target); !begin {
		return err
	}
	var done *verify.Mended
	err = o.Run(ctx, a.App, &c.Config, pass.Part{Name: "reading", Of: 2 * (price.Items + price.Others), Lost: "what was read is lost"},
		func() (err error) {
			done, err = verify.Mend(ctx, c, s.Store, defs, a.Lag(s.Target, o.Patience), o.Patience)
			return err
		})
	if err != nil {
		return err
	}
	out, left := mended{ReadUnits: done.Units, Mended: []mendedTotal{}}, done.More
	masks := show.PersonalOf(s.Plan)
	for _, t := range done.Totals {
		one := mendedTotal{Why: t.Why, Total: show.TotalOf(t.Def, masks.By(t.Def.Name, t.By), t.Window)}
		if out.Mended = append(out.Mended, one); one.Why != "" {
			left++
		}
	}
	err = a.Print(out, func(b *strings.Builder) {
		show.Some(b, out.Mended, func(t mendedTotal) string {
			if t.Why == "" {
				return "mended: " + t.String()
			}
			return "not mended: " + t.String() + ": " + t.Why
		})
		fmt.Fprintf(b, "%s mended, %s not\n", show.Count(len(out.Mended)+done.More-left, "total"), show.Comma(left))
	})
	return cli.Differs(err, left > 0)
}

// opened opens the stack, and returns the aggregates with these names. Without names it returns
// none, which stands for all.
func (a *app) opened(ctx context.Context, names []string) (s pass.Opened, defs []*aggregate.Definition, err error) {
	s, err = pass.Open(ctx, a.App, repairing)
	if err == nil && len(names) > 0 {
		defs, err = meant(ctx, s, names)
	}
	return s, defs, err
}

// rebuildAccept accepts the flags of totals and of heads.
func (a *app) rebuildAccept(cmd *cobra.Command, o pass.Options, names []string) error {
	ctx := cmd.Context()
	s, defs, err := a.opened(ctx, names)
	if err != nil {
		return err
	}
	if len(defs) == 0 {
		defs = s.Plan.Definitions()
	}
	flags, err := flagsOf(ctx, s, defs)
	if err != nil {
		return err
	}
	if !o.Yes && len(flags) > 0 {
		show.Some(a.Stderr, flags, func(t acceptedTotal) string { return "flagged: " + t.String() + ": " + t.Flag })
		return cli.Refusedf("nothing is accepted yet: write --yes to accept these flags")
	}
	if err := a.Announce(s.Target); err != nil {
		return err
	}
	who := command.Caller(ctx, s.Target)
	out := Rebuilt{Complete: []string{}, Standing: []string{}, Accepted: []acceptedTotal{}}
	for _, f := range flags {
		accepted, err := repair.Of(s.Store).Accept(ctx, f.key, f.flag, who)
		if err != nil {
			return err
		}
		if accepted {
			out.Accepted = append(out.Accepted, f)
			continue
		}
		a.Say("not accepted, because its flag has changed meanwhile: %s; run the command again", f)
	}
	err = a.Print(out, func(b *strings.Builder) {
		show.Some(b, out.Accepted, func(t acceptedTotal) string { return "accepted: " + t.String() + ": " + t.Flag })
		fmt.Fprintf(b, "%s accepted by %s\n", show.Count(len(out.Accepted), "flag"), show.Text(who))
	})
	return cli.Differs(err, len(out.Accepted) < len(flags))
}

// flagsOf lists the flags of the totals and heads of some aggregates. It reads the whole aggregates
// table.
func flagsOf(ctx context.Context, s pass.Opened, defs []*aggregate.Definition) (list []acceptedTotal, err error) {
	masks := show.PersonalOf(s.Plan)
	for _, def := range defs {
		head, err := s.Store.Head(ctx, def)
		if err != nil {
			return nil, err
		}
		if head != nil && head.Flag != "" {
			list = append(list, acceptedTotal{Total: show.TotalOf(def, nil, time.Time{}),
				Flag: masks.Quoted(head.Flag), flag: head.Flag, key: lanes.HeadKey(def)})
		}
	}
	for t, err := range s.Store.Totals(ctx) {
		if err != nil {
			return nil, err
		}
		at := t.Address
		i := slices.IndexFunc(defs, func(d *aggregate.Definition) bool { return d.Name == at.Name && d.Since == at.Since })
		if i < 0 || t.Flag == "" {
			continue
		}
		window := time.Time{}
		if at.Window != aggregate.NoWindow {
			window = time.Unix(at.Window, 0).UTC()
		}
		list = append(list, acceptedTotal{Total: show.TotalOf(defs[i], masks.By(at.Name, lanes.Group(defs[i], at.By)), window),
			Flag: masks.Quoted(t.Flag), flag: t.Flag, key: lanes.Key(defs[i], at.Bucket, at.By, at.Window)})
	}
	return list, nil
}
