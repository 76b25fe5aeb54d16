package pass

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/tool/chosen"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/verified"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
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

// verifyJSON documents --output json. A test compares it with [verified.Report].
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

type verifyOptions struct {
	pass.Divided
	prices                  string
	patience                time.Duration
	twice, dry, yes, reveal bool
}

func newVerify(a *app) *cobra.Command {
	var o verifyOptions
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
			if err := o.check(); err != nil {
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
	flags.DurationVar(&o.patience, "patience", drained.Patience, "with --twice, how long to wait for the stream; 0: ask once")
	flags.BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	o.WorkFlag(flags)
	passFlags(cmd, &o)
	return cmd
}

// passFlags adds the flags of a pass over the tables, after those of the command itself.
func passFlags(cmd *cobra.Command, o *verifyOptions) {
	o.Divided.PassFlags(cmd.Flags())
	agreeFlags(cmd, o)
}

// agreeFlags adds the flags of a command that asks before it begins, because of what it costs.
func agreeFlags(cmd *cobra.Command, o *verifyOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.dry, "dry-run", false, "only print what the command would read, and what that costs")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask, however much it costs")
	flags.StringVar(&o.prices, "prices", "", command.PricesUsage)
}

// check says what is wrong with the options.
func (o *verifyOptions) check() error {
	job := worker.Verify
	if o.twice {
		job = worker.Look
	}
	if err := o.Divided.Check(job); err != nil {
		return err
	}
	if o.patience < 0 {
		return fmt.Errorf("--patience %s: give a time such as 15m", o.patience)
	}
	return nil
}

// verifying is a stack with its pipeline, ready to be read.
type verifying struct {
	target *target.Target
	plan   *pipeline.Pipeline
	store  *store.Store
}

// verifying opens the tables of a stack.
func (a *app) verifying(cmd *cobra.Command, writes bool) (v verifying, err error) {
	if v.target, err = a.Find(cmd.Context()); err != nil {
		return v, err
	}
	a.Wakes = writes
	if v.plan, err = a.Deployed(cmd.Context(), v.target, true, writes); err != nil {
		return v, err
	}
	if writes {
		if err := chosen.NeedsPayloads(v.target, v.plan); err != nil {
			return v, err
		}
	}
	v.store, err = a.Store(v.target, v.plan)
	return v, err
}

// config returns how a pass reads the tables.
func (a *app) passConfig(v verifying, o verifyOptions) (verify.Config, error) {
	c := verify.Config{Pipeline: v.plan, Source: verify.SourceOf(v.store), Looks: o.twice}
	var err error
	c.Config, err = o.Config(a.App, v.target, v.target.Account+" "+v.target.Region+" "+v.target.EventsTable+" "+v.target.AggregatesTable)
	return c, err
}

// besides is roughly the memory that a pass needs besides its sums: pages that are read and
// written.
const besides = 128 << 20

// keepTo limits the memory of the process for a pass, until the returned function is called.
// Without the limit, garbage would take as much memory as the sums.
func (o verifyOptions) keepTo() (end func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(o.Memory)<<20+besides))
	return func() { debug.SetMemoryLimit(before) }
}

func (a *app) verify(cmd *cobra.Command, o verifyOptions) error {
	ctx := cmd.Context()
	defer o.keepTo()()
	v, err := a.verifying(cmd, false)
	if err != nil {
		return err
	}
	c, err := a.passConfig(v, o)
	if err != nil {
		return cli.Usage(err)
	}
	done, err := a.priced(ctx, v, &c, o)
	if err != nil || o.dry {
		return err
	}
	defer done()
	report, looked, err := a.pass(ctx, v, c, o)
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(a.Stderr, "\ningot: %s\n", goOn(o.Work, "what was read is lost"))
		}
		return err
	}
	return a.verified(v.plan, o, report, looked)
}

// priced prints what a pass reads, asks the user, and lets the pass show its progress, until the
// returned function is called.
func (a *app) priced(ctx context.Context, v verifying, c *verify.Config, o verifyOptions) (done func(), err error) {
	looks := 1
	if o.twice {
		looks = 2
	}
	price, err := v.price(ctx, o.prices, looks)
	if err != nil {
		return nil, err
	}
	a.Say("verify reads %s", price)
	if o.Large != "" {
		prices, err := command.ReadPrices(o.prices)
		if err != nil {
			return nil, err
		}
		o.SayTime(a.App, prices, price.Reads)
	}
	if o.dry {
		return nil, a.showPrice(price)
	}
	if err := a.affordable(price, o.yes); err != nil {
		return nil, err
	}
	progress := a.Progress()
	total := price.Items + price.Others
	c.Progress = func(p sums.Progress) {
		progress(show.Step{Phase: "reading", Done: min(p.Wanted+p.Stored, total), Total: total})
	}
	return func() { progress(show.Step{}) }, nil
}

// pass compares everything, as the options ask for it.
func (a *app) pass(ctx context.Context, v verifying, c verify.Config, o verifyOptions) (r *verify.Report, l *verify.Looks, err error) {
	switch {
	case o.twice:
		look := func(ctx context.Context, name string) (*verify.Report, error) {
			if o.Large != "" {
				return a.lookAtLarge(ctx, v, c, o, worker.Look, name)
			}
			return verify.Run(ctx, c)
		}
		l, err = verify.TwiceBy(ctx, a.Clock, a.Lag(v.target, o.patience), o.patience, look)
		if err == nil && o.Large != "" {
			err = a.clearLooks(ctx, v, o)
		}
		if err != nil {
			return nil, nil, err
		}
		if r = l.Second; r == nil {
			r = l.First
		}
	case o.Large != "":
		if r, err = a.lookAtLarge(ctx, v, c, o, worker.Verify, ""); err == nil {
			err = verify.Clear(ctx, c)
		}
	default:
		r, err = verify.Run(ctx, c)
	}
	return r, l, err
}

// lookAtLarge lets workers verify, and puts their results together. Each look has a folder of its
// own, so that another call goes on with the one that was under way.
func (a *app) lookAtLarge(ctx context.Context, v verifying, c verify.Config, o verifyOptions, job, name string) (*verify.Report, error) {
	if name != "" {
		o.Work += "/" + name
		var err error
		if c, err = a.passConfig(v, o); err != nil {
			return nil, err
		}
	}
	done := func(ctx context.Context) (sums.Done, error) { return verify.Done(ctx, c) }
	if err := o.AtLarge(ctx, a.App, v.target, job, c.About, done); err != nil {
		return nil, err
	}
	return verify.Collect(ctx, c)
}

// clearLooks lets the folders of the looks be used again, that of the first one last. If it is
// interrupted, a second look is never there without the first that it came after.
func (a *app) clearLooks(ctx context.Context, v verifying, o verifyOptions) error {
	work := o.Work
	for _, name := range slices.Backward(verify.TwiceLooks) {
		o.Work = work + "/" + name
		c, err := a.passConfig(v, o)
		if err == nil {
			err = verify.Clear(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask is the number of units above which the user has to agree.
const ask = 1_000_000

// goOn says how to continue a pass that was stopped.
func goOn(work, without string) string {
	if work != "" {
		return "what was done is in " + work + "; the same command goes on there"
	}
	return "the same command begins again: " + without + "; with --work DIR, it can be stopped and goes on"
}

func (a *app) showPrice(p pass.Price) error {
	if !a.JSON() {
		return nil
	}
	return a.WriteJSON(p)
}

// price returns what reading both tables costs, in dollars too.
func (v verifying) price(ctx context.Context, file string, looks int) (pass.Price, error) {
	p, err := pass.PriceOf(ctx, v.target, looks)
	if err != nil {
		return p, err
	}
	return p, inDollars(&p, file)
}

// inDollars computes the dollars with a file of prices, or with those that the tool brings.
func inDollars(p *pass.Price, file string) error {
	prices, err := command.ReadPrices(file)
	if err != nil {
		return cli.Usage(err)
	}
	p.By(prices)
	return nil
}

// affordable asks the user if a pass takes many units.
func (a *app) affordable(p pass.Price, yes bool) error {
	if yes || p.Reads+p.Writes <= ask {
		return nil
	}
	if !a.Typed {
		return cli.Refusedf("this takes more than %s units: write --yes to confirm that, or look at --dry-run and --rate first",
			show.Comma(ask))
	}
	fmt.Fprint(a.Stderr, "ingot: go on? [y/N] ")
	answer := make([]byte, 1)
	if _, err := a.Stdin.Read(answer); err != nil || answer[0] != 'y' && answer[0] != 'Y' {
		return cli.Refusedf("nothing was read")
	}
	return nil
}

// verified prints a report and returns the error that decides the exit code.
func (a *app) verified(plan *pipeline.Pipeline, o verifyOptions, r *verify.Report, looks *verify.Looks) error {
	masks := show.PersonalOf(plan)
	if o.reveal {
		masks = show.Personal{}
	}
	out := verified.Of(r, looks, masks)
	if n := len(r.Flagged) + len(r.Unreadable); n > 0 && !masks.None() {
		a.Say("%s and %s may hold personal values; --reveal shows them", show.Count(len(r.Flagged), "flag"),
			show.Count(len(r.Unreadable), "unreadable item"))
	}
	if a.JSON() {
		if err := a.WriteJSON(out); err != nil {
			return err
		}
	} else {
		out.Write(a.Stdout)
		if out.Unsure != "" {
			a.Say("nothing can be called damaged: %s", out.Unsure)
		} else if looks == nil && out.Items > 0 && len(out.Differences) > 0 {
			a.Say("events may still be arriving; run ingot verify --twice")
		}
	}
	switch {
	case out.Equal:
		return nil
	case looks != nil && len(looks.Damaged) == 0 && r.MissingParts == 0:
		return cli.Unsure()
	}
	return cli.Difference()
}
