package operate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/try"
)

const tryHelp = `Proves a deployment, on a stack that has no events of others, such as a test stage. It sends a few hundred made-up
events: new ones, repeated ones, broken ones, ones whose time is over, and other payloads under a stored key. It
waits, and compares every item, every total and every message in quarantine with what must be there. Then it looks
at what the services of this account do: what a refused statement and a cancelled transaction bring back, whether
the stream has each change once and in order, who is named for a removal, and whether the mapping names the shard of
a batch. At the end it removes what it has stored, and takes its messages out of quarantine. Totals without events
stay.

If the events table has events, it does nothing without --yes, and says what would still be there afterwards.

The report names no stack, no account and no key, so it can be pasted into an issue.

Exit code 3: something is wrong.`

const tryJSON = `
  where, version, counting, epoch, types, sent, left[]
  checks[]                what, result, detail`

type tryOptions struct {
	number int
	limit  time.Duration
	yes    bool
}

func newTry(a *app) *cobra.Command {
	var o tryOptions
	cmd := &cobra.Command{
		Use:   "try",
		Short: "Prove a deployment with made-up events",
		Long:  tryHelp,
		Example: `  ingot try --stack shop-test
  ingot try --local --number 60`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.number < 1 || o.number > 10_000 {
				return cli.Usagef("--number %d: give a number of events from 1 to 10000", o.number)
			}
			return a.try(cmd, o)
		},
	}
	command.OnPipeline(cmd, tryJSON)
	cmd.Flags().IntVar(&o.number, "number", 300, "how many new events to send")
	cmd.Flags().DurationVar(&o.limit, "limit", 5*time.Minute, "wait at most this long for one thing")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "try it though the events table has events already")
	return cmd
}

// Tried is the report as it is printed.
type Tried struct {
	Where   string `json:"where"`
	Version string `json:"version"`
	*try.Report
}

func (a *app) try(cmd *cobra.Command, o tryOptions) error {
	ctx := cmd.Context()
	t, err := a.Find(ctx)
	if err != nil {
		return err
	}
	if err := t.Needs(target.Queue, target.Quarantine); err != nil {
		return err
	}
	p, err := a.Deployed(ctx, t, command.Use{Hashes: true, Writes: true})
	if err != nil {
		return err
	}
	st, err := a.Store(t, p)
	if err != nil {
		return err
	}
	switch paused, err := a.SayPaused(cmd, t); {
	case err != nil && target.Refused(err):
		return err
	case paused:
		return cli.Refusedf("nothing would be stored; resume it first")
	}
	if err := a.Announce(t); err != nil {
		return err
	}
	stack := sourceOf(t)
	r, err := try.Run(ctx, try.Config{Stack: &stack, Pipeline: p,
		Store: st, Tables: t.DynamoDB(), Streams: dynamodbstreams.NewFromConfig(t.AWS),
		Queues: t.SQS(), Queue: t.QueueURL, Quarantine: t.QuarantineURL, Number: o.number, Limit: o.limit, Busy: o.yes, Env: a.Clock,
		Tell: a.Say})
	if busy := (*try.BusyError)(nil); errors.As(err, &busy) {
		return cli.Refusedf("%w. If that is fine, add --yes", err)
	}
	out := Tried{where(t), cmd.Root().Version, r}
	printed := a.Print(out, out.text)
	switch {
	case printed != nil:
		return printed
	case err != nil:
		return fmt.Errorf("the trial stopped early, and the events that it has stored are still there: %w", err)
	case !r.Right():
		return cli.Difference()
	}
	return nil
}

// where says what kind of place a stack is in, and what that does not show.
func where(t *target.Target) string {
	switch {
	case t.Kind == target.KindLocal:
		return "ingot dev, which has no IAM, no Lambda and no CloudWatch: their part is not shown"
	case t.Endpoint != "":
		return "an emulator: what AWS itself answers is not shown"
	}
	return "AWS, " + t.Region
}

func (r Tried) text(b *strings.Builder) {
	fmt.Fprintf(b, "ingot try, %s\nwhere     %s\npipeline  %s, epoch %d, counting by %s\nsent      %s\n\n", r.Version, r.Where,
		show.Count(r.Types, "event type"), r.Epoch, cmp.Or(r.Counting, "nothing"), show.Count(r.Sent, "message"))
	for _, c := range r.Checks {
		fmt.Fprintf(b, "%-9s  %s", c.Result, c.What)
		if c.Detail != "" {
			b.WriteString(": " + show.Text(c.Detail))
		}
		b.WriteByte('\n')
	}
	for i, left := range r.Left {
		if i == 0 {
			b.WriteString("\nstill there\n")
		}
		b.WriteString("  " + left + "\n")
	}
}
