package verify

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/worker"
)

var verifyHelp = `Adds up all stored items again and compares every total with the result. It first prints what it reads and what that
costs. --dry-run stops there. Above 1,000,000 read units it asks you, or needs --yes.

While events flow, what the stream has not delivered yet looks like a difference. --twice looks a second time, after
the stream has delivered everything that was written before the first look ended. A total that then differs in the
same way is damaged. A total that differs in another way is still changing. A total that was equal at one of the two
looks is right.

Sums that do not fit into --memory go to files. With --work, the files go into that folder, and if the command is
stopped, the same command goes on there. The files contain the fields that totals are grouped by.

For tables that are too large for one machine, --large lets a state machine and a worker function of AWS do the
work. It starts an execution, or follows the one that runs for the same --work, and prints the result. It can be
stopped, and goes on with the same command.

Exit code 3: something differs; with --twice, something is damaged. 6: something differs, but --twice found nothing
that is certainly damaged.`

// verifyJSON documents --output json. A test compares it with [Verified].
const verifyJSON = `
  items, totals           how many were compared
  partly                  of how many totals only the fingerprint is compared, because some of their events have
                          expired
  expired                 of how many totals only n is compared, because some of their events may have expired;
                          absent if there are none
  units                   read units that were spent
  equal                   true: nothing differs
  differences[]           aggregate, since, by, window, what, has, wants, and with --twice damaged
  more                    differences beyond the 10,000 that are listed
  building[], flagged[]   aggregates that are not complete; the flags of totals
  unreadable[]            items that cannot be understood
  missingParts            parts of stored events that are not stored; absent if there are none
  copies                  copies of rows whose type a migration has not turned yet; absent if there are none
  unsure                  with --twice: why no difference can be called damaged; absent otherwise`

type options struct {
	pass.Options
	twice, reveal bool
}

// job is what workers do.
func (o *options) job() string {
	if o.twice {
		return worker.Look
	}
	return worker.Verify
}

func newVerify(a *app) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare every total with the items",
		Long:  verifyHelp,
		Example: `  ingot verify --local
  ingot verify --local --twice
  ingot verify --stack shop --dry-run
  ingot verify --stack shop --twice --segments 8 --rate 2000 --work ./verify-work
  ingot verify --stack shop --large arn:aws:states:eu-west-1:111122223333:stateMachine:shop-verify --work s3://my-bucket/first`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(o.job()); err != nil {
				return cli.Usage(err)
			}
			return a.verify(cmd, o)
		},
	}
	command.OnPipeline(cmd, verifyJSON)
	flags := cmd.Flags()
	o.LargeFlags(flags)
	flags.BoolVar(&o.twice, "twice", false,
		"look a second time, after the stream has delivered what was written before the first look ended")
	o.PatienceFlag(flags, "with --twice, how long to wait for the stream")
	flags.BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	o.WorkFlag(flags)
	o.PassFlags(flags)
	return cmd
}

// config returns how the looks read the tables.
func (a *app) config(s pass.Opened, o *options) (verify.Config, error) {
	c, err := s.Config(a.App, &o.Options)
	c.Looks = o.twice
	return c, err
}

func (a *app) verify(cmd *cobra.Command, o options) error {
	ctx := cmd.Context()
	s, err := pass.Open(ctx, a.App, command.Use{Hashes: true})
	if err != nil {
		return err
	}
	c, err := a.config(s, &o)
	if err != nil {
		return err
	}
	looks := 1
	if o.twice {
		looks = 2
	}
	price, err := pass.PriceOf(ctx, s.Target, looks)
	if err != nil {
		return err
	}
	if begin, err := o.Begin(a.App, "verify reads", price, nil); !begin {
		return err
	}
	var report *verify.Report
	var looked *verify.Looks
	err = o.Run(ctx, a.App, &c.Config, pass.Part{Name: "reading", Of: price.Items + price.Others, Lost: "what was read is lost"},
		func() (err error) {
			report, looked, err = a.look(ctx, s, c, o)
			return err
		})
	if err != nil {
		return err
	}
	return a.verified(s.Plan, o, report, looked)
}

// look compares everything, as the options ask for it.
func (a *app) look(ctx context.Context, s pass.Opened, c verify.Config, o options) (r *verify.Report, l *verify.Looks, err error) {
	look := func(ctx context.Context, name string) (*verify.Report, error) {
		if o.Large != "" {
			return a.lookAtLarge(ctx, s, c, o, name)
		}
		return verify.Run(ctx, c)
	}
	if !o.twice {
		r, err = look(ctx, "")
		if err == nil && o.Large != "" {
			err = verify.Clear(ctx, c)
		}
		return r, nil, err
	}
	l, err = verify.TwiceBy(ctx, a.Clock, a.Lag(s.Target, o.Patience), o.Patience, look)
	if err == nil && o.Large != "" {
		err = a.clearLooks(ctx, s, o)
	}
	if err != nil {
		return nil, nil, err
	}
	return cmp.Or(l.Second, l.First), l, nil
}

// lookAtLarge lets workers verify, and puts their results together. Each look has a folder of its
// own, so that another call goes on with the one that was under way.
func (a *app) lookAtLarge(ctx context.Context, s pass.Opened, c verify.Config, o options, name string) (*verify.Report, error) {
	if name != "" {
		o.Work += "/" + name
		var err error
		if c, err = a.config(s, &o); err != nil {
			return nil, err
		}
	}
	done := func(ctx context.Context) (sums.Done, error) { return verify.Done(ctx, c) }
	if err := o.AtLarge(ctx, a.App, s.Target, o.job(), c.About, done); err != nil {
		return nil, err
	}
	return verify.Collect(ctx, c)
}

// clearLooks lets the folders of the looks be used again, that of the first one last. If it is
// interrupted, a second look is never there without the first that it came after.
func (a *app) clearLooks(ctx context.Context, s pass.Opened, o options) error {
	work := o.Work
	for _, name := range slices.Backward(verify.TwiceLooks) {
		o.Work = work + "/" + name
		c, err := a.config(s, &o)
		if err == nil {
			err = verify.Clear(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verified prints a report and returns the error that decides the exit code.
func (a *app) verified(plan *pipeline.Pipeline, o options, r *verify.Report, looks *verify.Looks) error {
	masks := show.Masks(plan, o.reveal)
	out := reportOf(r, looks, masks)
	if n := len(r.Flagged) + len(r.Unreadable); n > 0 && !masks.None() {
		a.Say("%s and %s may hold personal values; --reveal shows them", show.Count(len(r.Flagged), "flag"),
			show.Count(len(r.Unreadable), "unreadable item"))
	}
	err := a.Print(out, func(b *strings.Builder) {
		out.write(b)
		if out.Unsure != "" {
			a.Say("nothing can be called damaged: %s", out.Unsure)
		} else if looks == nil && out.Items > 0 && len(out.Differences) > 0 {
			a.Say("events may still be arriving; run ingot verify --twice")
		}
	})
	switch {
	case err != nil || out.Equal:
		return err
	case looks != nil && len(looks.Damaged) == 0 && r.MissingParts == 0:
		return cli.Unsure()
	}
	return cli.Difference()
}
