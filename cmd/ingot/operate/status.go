package operate

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const statusJSON = `
  stack, epoch            which stack, and the epoch of the deployed pipeline; 0: not known
  home                    the home Region of the events table; absent if not known, or if no function has started
  lag                     seconds that the totals are behind; absent if not known, or if nothing came for four minutes
  queues[]                name, url, arn, waiting, inFlight, oldest (seconds; absent if not known)
  quarantine[]            verdict, reason, count, and usual: a bound refuses such events
  mappings[]              uuid, function, source, state, last (what Lambda says of the last batch), by, at
  functions[]             name, and of the last 15 minutes: calls, failed, throttled
  account                 allowed, needed: calls of functions at a time; absent if not known
  alarms[]                name, state (ALARM, or INSUFFICIENT_DATA if it cannot ring), about
  aggregates[]            name, since, building, flags
  flagged[]               total, flag, accepted: flagged totals on the first page of the aggregates table
  hot[]                   of, index, partitionHash, count, remedy: where most writes were refused in the last hour
  verified                at, totals, differing, undecided, events, leftOut, failed, failedAt: what the last scheduled
                          verification has found, and how many have failed since; absent if there is none
  unwell[], unknown[]     why the stack is not well; what could not be read
  incomplete              true: something could not be read, so the stack may not be well`

func newStatus(a *app) *cobra.Command {
	var check bool
	var format string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of a stack: queues, lag, pauses, alarms and flags",
		Long: `Shows the state of a stack on one screen: how many messages wait in its queues and since when, why messages are in
quarantine, how far the totals are behind the events, which function is paused and by whom, how many of their calls
failed, which alarms are on, and which aggregates are building or flagged. It also prints the URL and the ARN of the
queue for events. It names the partitions to which most writes were refused in the last hour, by a hash of the key,
and what would spread them. Flagged totals are looked for on the first page of the aggregates table, which holds
some thousand. It names what it could not read. An ingot dev has no CloudWatch, so its ages, lag and alarms are not
known.

The stack is not well if an alarm is on, a function is paused, calls of a function failed or were refused in the
last 15 minutes, a message is in quarantine or in the dead-letter queue, an aggregate is flagged, the totals are more
than an hour behind, or the schedule of cmd/worker has found a wrong total or has failed twice. A message
that a bound (atLeast, atMost) has refused is usual, and does not count.

It changes nothing. But to see why messages are in quarantine, it must receive them, up to 1,000. Others do not see
them for that moment.`,
		Example: `  ingot status --stack shop
  ingot status --local --check
  ingot status --local --format prometheus
  ingot status --local --output json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "prometheus" {
				return cli.Usagef("--format %q: write text or prometheus", format)
			}
			return a.status(cmd, check, format)
		},
	}
	command.OnPipeline(cmd, statusJSON)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 3 if the stack is not well, with 6 if not everything could be read")
	cmd.Flags().StringVar(&format, "format", "text", "text or prometheus")
	return cmd
}

func (a *app) status(cmd *cobra.Command, check bool, format string) error {
	t, err := a.Find(cmd.Context())
	if err != nil {
		return err
	}
	s := sourceOf(t)
	if s.Pipeline, s.NoPipeline = a.Deployed(cmd.Context(), t, command.Use{}); s.NoPipeline == nil {
		if s.Store, err = store.New(tables.Config{Client: t.DynamoDB(), Pipeline: s.Pipeline, Aggregates: t.AggregatesTable}); err != nil {
			return err
		}
	}
	r := status.Read(cmd.Context(), s)
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	r.Stack = t.String()
	switch {
	case format == "prometheus":
		err = r.Prometheus(a.Stdout)
	case a.JSON():
		err = a.WriteJSON(r)
	default:
		err = r.Text(a.Stdout, a.Columns)
	}
	switch {
	case err != nil || !check:
		return err
	case len(r.Unwell) > 0:
		return cli.Difference()
	case r.Incomplete:
		return cli.Unsure()
	}
	return nil
}

// sourceOf says what the state of a stack is read from, without its pipeline.
func sourceOf(t *target.Target) status.Source {
	s := status.Source{Queues: t.SQS(), Lambda: t.Lambda(), Queue: t.QueueURL, Quarantine: t.QuarantineURL, DeadLetters: t.DeadLetterURL,
		Ingest: t.IngestFunction, Streams: t.StreamsFunction, Now: time.Now()}
	switch t.Kind {
	case target.KindLocal:
		s.Ingest, s.Streams = target.DevIngest, target.DevStreams
	case target.KindStack:
		s.AlarmPrefix = t.Name + "-"
		fallthrough
	default:
		s.Watch, s.Logs, s.LogGroups, s.Limits = t.CloudWatch(), t.Logs(), t.LogGroups(), t.Lambda()
		s.Home = sideOf(t).Home
	}
	return s
}
