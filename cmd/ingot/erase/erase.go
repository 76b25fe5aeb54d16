package erase

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/erase"
	"github.com/ingot-events/ingot/internal/tool/erase/stray"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

var eraseHelp = `Erases an event for good, with its parts. Its item is replaced by one that only bars the key: whatever comes under the
key again is a Duplicate. Every total loses what the event added. Totals with values that cannot be subtracted (min,
max, newest, oldest, distinct) are flagged. The event's payloads in the payload bucket are deleted, and its claims are
released. If no event is stored, the key is barred in advance. After an interruption, run the command again.

Then it lists what else may hold the event, and how to remove it there: objects of the archive, older versions of
payloads, and messages in the queues. It removes none of these. With --letters, it also lists the messages in a folder
of ingot quarantine pull that have this key, or that of a part.

Name the event by its type and the fields that its key is made of, or by --pk and --sk. If the key is hashed, the
stack's secret is used.

--pattern erases all events that a pattern of pipeline.yaml finds, as ingot query does, and those that have expired
and are not removed yet. First it shows which events these are. Before it erases the first one, and with --dry-run,
it adds their keys to the file of --keys, which holds no other values. --keys alone erases the events in that file:
those that --dry-run has shown, or all of them again after a restore.

If not all parts are found that were stored with an event, as after a change of pipeline.yaml, nothing is changed.
Then --scan looks for parts in the whole table, and erases them too. It also finds parts of events that have
expired, if they show the key of their whole.

--archive reads all files of the archive, and once more if events in them had parts. It lists the files with these
events, and prints the command that takes the events out of them. Without it, only the objects of the archive are
looked at.

--payloads erases no event, but the objects of the payload bucket that belong to none: those of messages that were
refused, and of copies that were spelled differently. --dry-run lists them. They are deleted only while ingest is
paused, after the stream has been read to its end. Objects of the last 25 hours stay, because they may not be
published yet, and so do objects of types with migrated.

` + command.FieldsHelp + `

` + excerpt.Page("erasing.md") + ` says
what remains, and what is removed by itself after some time.

Exit code 2: also if the key cannot be made. 5: ingest is not paused. 6: erased, but what else holds the event could
not be read.`

const eraseJSON = `
  events[]      type; pk, sk: the key
    erased      true: an event was stored there; absent with --dry-run
    barred      true: the key is barred
    parts[]     type, pk, sk, claim: what is erased with it
    archive[]   bucket, name, version, marker: also those of its parts
    payloads[]  the same, of the payload bucket: with --dry-run all that is there, otherwise what is left
    letters[]   ids of the messages in --letters that have this key, or that of a part
    error       why it is not erased
  filesUnread   true: the archive has files, and --archive was not given
  quarantine, deadLetters, queue   about how many messages each queue holds; absent if not known
or with --payloads:
  payloads[]    bucket, name, modified
  young         others, of the last 25 hours
  moving        others, of types with migrated
  deleted       how many were deleted; absent with --dry-run`

type eraseOptions struct {
	erase.Choice
	yes, reveal, payloads bool
	pk, sk                string
}

func newErase(a *app) *cobra.Command {
	var o eraseOptions
	cmd := &cobra.Command{
		Use:   "erase TYPE FIELD=VALUE… --yes",
		Short: "Erase events for good, and say what else holds them",
		Long:  eraseHelp,
		Example: `  ingot erase order.placed order_id=o-1 --dry-run --stack shop
  ingot erase order.placed order_id=o-1 --yes --stack shop
  ingot erase --pattern order order_id=o-1 --keys erased.ndjson --dry-run --stack shop
  ingot erase --keys erased.ndjson --yes --stack shop
  ingot erase --pk ORDER#o-1 --sk PLACED --yes --local`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			if o.payloads {
				return a.erasePayloads(cmd, o)
			}
			return a.erase(cmd, args, o)
		},
	}
	command.OnPipeline(cmd, eraseJSON)
	flags := cmd.Flags()
	flags.BoolVar(&o.yes, "yes", false, "confirm that the events are to be erased")
	flags.BoolVar(&o.Dry, "dry-run", false, "erase nothing, and list what would be erased and what holds the events")
	flags.BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	flags.StringVar(&o.pk, "pk", "", "the partition key, instead of a type and its fields")
	flags.StringVar(&o.sk, "sk", "", "the sort key")
	flags.StringVar(&o.Letters, "letters", "", "a folder of ingot quarantine pull, to look for messages with these keys")
	flags.StringVar(&o.Pattern, "pattern", "", "erase all events that this pattern finds")
	flags.StringVar(&o.Keys, "keys", "", "a file that keeps the keys of what is erased, one on a line")
	flags.StringVar(&o.Ask.From, "from", "", "with --pattern, as in ingot query")
	flags.StringVar(&o.Ask.To, "to", "", "with --pattern, as in ingot query")
	flags.StringVar(&o.Ask.Prefix, "prefix", "", "with --pattern, as in ingot query")
	flags.BoolVar(&o.Scan, "scan", false, "look for the parts of the events in the whole table")
	flags.BoolVar(&o.Archive, "archive", false, "read all files of the archive for the events and their parts")
	flags.BoolVar(&o.payloads, "payloads", false, "erase the objects of the payload bucket that belong to no event")
	return cmd
}

// check says what is wrong with the command line.
func (o *eraseOptions) check(cmd *cobra.Command, args []string) error {
	byKey, flags := o.pk != "" || o.sk != "", cmd.Flags()
	ways := 0
	for _, way := range []bool{byKey, o.Pattern != "", o.payloads} {
		if way {
			ways++
		}
	}
	asks := flags.Changed("from") || flags.Changed("to") || flags.Changed("prefix")
	switch {
	case byKey && (len(args) > 0 || o.pk == "" || o.sk == ""):
		return cli.Usagef("give both --pk and --sk and nothing else, or a type and its fields")
	case ways > 1 || o.Keys != "" && (byKey || o.payloads) || o.Keys != "" && o.Pattern == "" && len(args) > 0:
		return cli.Usagef("name what to erase in one way: by a type and its fields, by --pk and --sk, with --pattern, with --keys, " +
			"or with --payloads")
	case o.payloads && (len(args) > 0 || o.Scan || o.Letters != ""):
		return cli.Usagef("--payloads looks at the whole bucket: leave out everything that names events or messages")
	case asks && o.Pattern == "":
		return cli.Usagef("--from, --to and --prefix belong to --pattern")
	case ways == 0 && o.Keys == "" && (len(args) == 0 || slices.Contains(args, "")):
		return cli.Usagef("write %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
	case !o.yes && !o.Dry:
		return cli.Usagef("erase destroys an event for good: write --yes to confirm that, or --dry-run to see first")
	case o.Pattern != "" && o.Keys == "" && !o.Dry:
		return cli.Usagef("an event that is erased is not found by its pattern any more: write --keys FILE to keep the keys, " +
			"so that you can go on after an interruption, and erase again after a restore")
	}
	return nil
}

func (a *app) erase(cmd *cobra.Command, args []string, o eraseOptions) error {
	e, err := a.eraser(cmd, o)
	if err != nil {
		return err
	}
	if err := a.eraseWhich(cmd.Context(), e, args, o); err != nil {
		return eraseFault(err)
	}
	if err := e.Look(cmd.Context()); err != nil {
		return err
	}
	if err := e.Keep(); err != nil {
		return err
	}
	if !o.Dry {
		if err := a.Announce(e.Target); err != nil {
			return err
		}
		if o.Pattern != "" && !a.JSON() {
			e.PrintEvents(a.Stderr)
		}
		if left, err := e.EraseAll(cmd.Context()); err != nil {
			if left > 0 && cmd.Context().Err() != nil {
				a.Say("%d of %s are not erased; go on with the same command", left, show.Count(e.Len(), "event"))
			}
			return err
		}
	}
	return a.erased(cmd.Context(), e)
}

// eraseFault returns an error of an eraser with its exit code.
func eraseFault(err error) error {
	var choice *erase.WrongChoice
	var now *stray.NotNow
	switch {
	case errors.As(err, &choice):
		return cli.Usage(choice.Err)
	case errors.As(err, &now):
		return cli.Refused(now.Err)
	}
	return err
}

// eraser opens the stack.
func (a *app) eraser(cmd *cobra.Command, o eraseOptions) (*erase.Eraser, error) {
	// The keys of parts may be hashed, whatever names their whole.
	t, p, err := a.Reach(cmd.Context(), command.Use{Hashes: true, Writes: !o.Dry})
	if err != nil {
		return nil, err
	}
	if err := command.NeedsPayloads(t, p); err != nil { // also for a dry run, which must find all that an erasure deletes
		return nil, err
	}
	e := &erase.Eraser{Options: o.Choice, Target: t, Plan: p, Clock: a.Clock.Real(), Step: a.Progress(),
		Scans: func(ctx context.Context, table string) error { return pass.Say(ctx, a.Stderr, t, table) }}
	e.Hidden = show.Masks(p, o.reveal)
	e.Store, err = a.Store(t, p)
	return e, err
}

// eraseWhich lists the events that the command line means.
func (a *app) eraseWhich(ctx context.Context, e *erase.Eraser, args []string, o eraseOptions) error {
	switch {
	case o.Pattern != "":
		values, err := a.QuestionValues(args)
		if err != nil {
			return err
		}
		e.Options.Ask.Values = values
		return e.FindMany(ctx)
	case o.Keys != "":
		return e.FindMany(ctx)
	case len(args) == 0:
		e.Add("", event.Key{PK: o.pk, SK: o.sk})
		return nil
	}
	fields, err := a.PayloadFields(args[1:])
	if err != nil {
		return err
	}
	key, err := e.Plan.Key(args[0], envelope.Message{Body: command.Payload(fields)})
	if err != nil {
		return cli.Usagef("%s; see ingot erase --help", show.Refusal(err))
	}
	e.Add(args[0], key)
	return nil
}

// erased prints what was done and what is left, and returns the exit code.
func (a *app) erased(ctx context.Context, e *erase.Eraser) error {
	r := e.Report(ctx)
	if err := a.Print(r, func(b *strings.Builder) { e.Print(b, r) }); err != nil {
		return err
	}
	failed := 0
	for _, ev := range r.Events {
		if ev.Error != "" {
			failed++
			a.Say("%s", ev.Error)
		}
	}
	for _, err := range r.Unknown {
		a.Say("what else holds the event could not be read: %s", show.Error(err))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0:
		return &cli.ExitError{Code: cli.Failed}
	case len(r.Unknown) > 0:
		return cli.Unsure()
	}
	return nil
}

// erasePayloads lists or deletes the objects of the payload bucket that belong to no item.
func (a *app) erasePayloads(cmd *cobra.Command, o eraseOptions) error {
	e, err := a.eraser(cmd, o)
	if err != nil {
		return err
	}
	if err := e.Target.Needs(target.Payloads); err != nil {
		return err
	}
	b := &stray.Bucket{Objects: e.Target.S3(), Name: e.Target.PayloadBucket, Plan: e.Plan, Items: e.Items, Pauser: a.Pauser(e.Target),
		Clock: a.Clock.Real()}
	if e.Target.ArchiveBucket != "" {
		b.Lag = a.Lag(e.Target, stray.Patience)
	}
	run := b.Find
	if !o.Dry {
		if err := a.Announce(e.Target); err != nil {
			return err
		}
		if b.Ingest, err = command.FunctionName(e.Target, false); err != nil {
			return err
		}
		run = b.Delete
	}
	out, err := run(cmd.Context())
	if err != nil {
		if out != nil {
			a.Say("%d of %s are deleted", *out.Deleted, show.Count(len(out.Payloads), "object"))
		}
		return eraseFault(err)
	}
	return a.Print(out, out.Print)
}
