package quarantine

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const resendHelp = `Sends messages again, without the attribute that Ingot added, proves with SQS's checksums that they were sent, and
then deletes them from their queue. At the end it prints how many were sent, and why the others were not.

Without an ID it sends every open or edited message that would be stored today, or those of them that you choose. With
IDs it sends these messages, except those that would be Poison again. An ID may be shortened. --anyway sends every
message that you name or choose.

` + choosingHelp + `

If the command is killed between sending and deleting, run it again: it goes on where it stopped. A second copy
is a Duplicate. On a FIFO queue a message keeps its group. --group names a group for messages that have none.

Use --replace if the message is right and the stored event is wrong. It needs IDs and --yes, and ingot quarantine
show must have shown you both. It deletes the stored event, if that is still the one that was shown, and then sends
the message. Between the two, nothing is stored under the key. The deleted event is kept in the message's file.
Totals lose what the event added, and gain what the message adds. A total with values that cannot be subtracted,
such as min and max, is flagged.

Exit code 3: some stay where they are.`

type resendOptions struct {
	replace, yes, anyway, dry bool
	group                     string
}

func newResend(a *app) *cobra.Command {
	var o resendOptions
	var f quarantine.Filter
	cmd := &cobra.Command{
		Use:   "resend DIR [ID…]",
		Short: "Send messages again, and delete them from quarantine",
		Long:  resendHelp,
		Example: `  ingot quarantine resend letters
  ingot quarantine resend letters --verdict Conflict --dry-run
  ingot quarantine resend letters --output json`,
		Args: folderAnd(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(args[1:], f, "")
			switch {
			case err != nil:
				return err
			case o.replace && len(c.ids) == 0:
				return cli.Usagef("--replace needs the ID of each message that is right")
			case o.replace && (o.anyway || o.dry):
				return cli.Usagef("--replace cannot be combined with --anyway or --dry-run; ingot quarantine show says what it would replace")
			case o.replace && !o.yes:
				return cli.Usagef("--replace deletes what is stored: write --yes to confirm that")
			}
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.resend(cmd, t, args[0], c, o)
		},
	}
	command.OnPipeline(cmd, workedJSON)
	filterFlags(cmd, &f)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "delete the stored event that the message conflicts with, and then send")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm --replace")
	cmd.Flags().BoolVar(&o.anyway, "anyway", false, "send also what would not be stored today")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be sent, and send nothing")
	cmd.Flags().StringVar(&o.group, "group", "", "on a FIFO queue, the group of messages that have none")
	return cmd
}

const dropHelp = `Deletes messages from their queue for good: those that you name, or the open ones that you choose. It says which ones
first, and needs --yes. Their files stay in the folder. A message whose file is not there is not deleted.

` + choosingHelp + `

Exit code 3: some are not deleted.`

type dropOptions struct{ yes, dry bool }

func newDrop(a *app) *cobra.Command {
	var o dropOptions
	var f quarantine.Filter
	cmd := &cobra.Command{
		Use:   "drop DIR [ID…] --yes",
		Short: "Delete messages from quarantine; their files stay",
		Long:  dropHelp,
		Example: `  ingot quarantine drop letters 3f2a91c0 --yes --stack shop
  ingot quarantine drop letters --reason unknown-type --dry-run --local
  ingot quarantine drop letters 3f2a91c0 --yes --local`,
		Args: folderAnd(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(args[1:], f, "drop")
			if err != nil {
				return err
			}
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.drop(cmd, t, args[0], c, o)
		},
	}
	command.OnPipeline(cmd, workedJSON)
	filterFlags(cmd, &f)
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm that the messages are to be deleted")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be deleted, and delete nothing")
	return cmd
}

func (a *app) resend(cmd *cobra.Command, t *target.Target, path string, c choosing, o resendOptions) error {
	ctx := cmd.Context()
	if err := t.Needs(target.Queue); err != nil {
		return err
	}
	j, letters, err := a.begin(cmd, t, path, c, "resent")
	if err != nil {
		return err
	}
	j.dry = o.dry
	var x quarantine.Examiner
	if o.replace || !o.anyway || a.Pipeline != "" { // a file that differs is refused, even if nothing needs it
		if x, err = a.examiner(cmd, t, true); err != nil {
			return err
		}
		j.personal = show.PersonalOf(x.Pipeline)
	}
	if !o.replace && !o.anyway {
		if letters, err = j.sendable(ctx, x, letters, len(c.ids) > 0); err != nil {
			return err
		}
	}
	a.sayPlan(letters, "send again")
	if !o.dry {
		if err := a.Announce(t); err != nil {
			return err
		}
	}
	return j.run(ctx, letters, t.QueueURL, func(w *quarantine.Work, l *quarantine.Letter) error {
		w.Group = o.group
		if !o.replace {
			return w.Resend(ctx, l)
		}
		w.Events = &quarantine.Events{Client: t.DynamoDB(), Table: t.EventsTable, Examiner: x}
		return w.Replace(ctx, l)
	})
}

// sendable returns the letters that would be stored today, and those that only the ingest function
// can judge. Of letters that a person has named, only those that would be Poison are left out; the
// tables need not be asked for that. For each of the others, it prints why it stays.
func (j *job) sendable(ctx context.Context, x quarantine.Examiner, letters []*quarantine.Letter, named bool) ([]*quarantine.Letter, error) {
	if named {
		x.Store = nil
	}
	var list []*quarantine.Letter
	for _, l := range letters {
		today, err := x.Examine(ctx, l)
		switch {
		case err != nil:
			return nil, err
		case !l.Open() || l.Resent != nil || today.Verdict.Stored() || today.Elsewhere || named && today.Verdict != event.Poison:
			list = append(list, l)
		case l.OfStream():
			j.note(l, nil, quarantine.ErrOfStream)
		default:
			j.note(l, today, fmt.Errorf("it would be %s (%s) again; ingot quarantine show %s %s says more", today.Verdict, today.Reason,
				j.path, l.ID))
		}
	}
	return list, nil
}

func (a *app) drop(cmd *cobra.Command, t *target.Target, path string, c choosing, o dropOptions) error {
	j, letters, err := a.begin(cmd, t, path, c, "dropped")
	if err != nil {
		return err
	}
	j.dry = o.dry
	a.sayPlan(letters, "drop")
	switch {
	case o.dry:
	case !o.yes:
		return cli.Usagef("drop deletes messages for good: write --yes to confirm that")
	default:
		if err := a.Announce(t); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	return j.run(ctx, letters, "", func(w *quarantine.Work, l *quarantine.Letter) error { return w.Drop(ctx, l) })
}
