package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const quarantineHelp = `Works on the messages that Ingot gave up: those in the quarantine queue, and with pull --dead those in the
dead-letter queue. The commands, in the order in which you use them:

  pull     save the messages as files in a folder, and hide them from others while you work
  list     show what the folder holds, and count it by reason
  show     say why a message is there, what it would be today, and what is stored under its key
  edit     change a body with your editor, or a field of many bodies with --set
  resend   send messages again, prove that they were sent, and then delete them from quarantine
  drop     delete messages from quarantine; their files stay

Work in two terminals: pull runs in one until ctrl-C, everything else in the other. If no pull is running,
resend and drop look for their messages themselves.

Nothing is lost if a command is killed: a message is deleted only after it is proven sent, or if you drop
it. A message that is sent twice is a Duplicate. The files hold whole messages: delete the folder when you
are done.`

func newQuarantine(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "Look into quarantine, send messages again, or drop them",
		Long:  quarantineHelp,
		Example: `  ingot quarantine pull letters --once
  ingot quarantine list letters`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2, // as at the root
	}
	cmd.AddCommand(newPull(a), newList(a), newShow(a), newEdit(a), newResend(a), newDrop(a))
	return cmd
}

// folderAnd returns a check of arguments: a folder, and from least to most ids. A negative most
// means any number.
func folderAnd(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "") || len(args) < 1+least || most >= 0 && len(args) > 1+most {
			return usage(fmt.Errorf("write %s; see %s --help", cmd.UseLine(), cmd.CommandPath()))
		}
		return nil
	}
}

const pullHelp = `Receives the messages of the quarantine queue, saves each one as a file DIR/ID.json, and keeps them hidden
from others until ctrl-C. Then all of them become visible again, within 5 seconds. If the command is killed,
they become visible after 2 minutes.

SQS hides a message for at most 12 hours. After that the command receives the message again.

A file is never overwritten: what you edited stays. A message that was resent or dropped before, and has come
back because its deletion had no effect, is deleted again.

A FIFO dead-letter queue gives at most ten messages of one group at a time.

Exit codes: 0 all are visible again, also after ctrl-C; 1 failed.

` + targetHelp + `

With --output json, one object at the end: saved, known, deleted, released, lost.`

type pullOptions struct {
	dead, once bool
	most       int
}

func newPull(a *app) *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "pull DIR",
		Short: "Save the messages as files, and hide them from others",
		Long:  pullHelp,
		Example: `  ingot quarantine pull letters --once
  ingot quarantine pull letters --once --dead
  ingot quarantine pull letters --once --output json`,
		Args: folderAnd(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.most < 1 || o.most > 10_000 {
				return usage(fmt.Errorf("--max %d: give 1 to 10000", o.most))
			}
			t, err := a.find(cmd)
			if err != nil {
				return err
			}
			return a.pull(cmd.Context(), t, args[0], o)
		},
	}
	targetFlags(cmd)
	cmd.Flags().BoolVar(&o.dead, "dead", false, "pull from the dead-letter queue")
	cmd.Flags().BoolVar(&o.once, "once", false, "end when the queue gives no more, instead of at ctrl-C")
	cmd.Flags().IntVar(&o.most, "max", 1000, "hold at most this many messages at a time: 1 to 10000")
	return cmd
}

func (a *app) pull(ctx context.Context, t *target.Target, path string, o pullOptions) error {
	q, err := queueOf(t, o.dead)
	if err != nil {
		return err
	}
	dir, err := quarantine.MakeDir(path)
	if err != nil {
		return usage(err)
	}
	fmt.Fprintf(a.stderr, "ingot: pulling from %s of %s\n", q.Name(), t)
	waited := false
	done, err := q.Pull(ctx, dir, quarantine.Pulling{Most: o.most, Once: o.once, OnWaiting: func(held int) {
		if !waited && held > 0 {
			fmt.Fprintf(a.stderr, "ingot: %s hidden from others; ctrl-C makes them visible again\n", show.Count(held, "message"))
		}
		waited = held > 0
	}})
	if a.json() {
		if jsonErr := a.writeJSON(struct {
			Saved    int `json:"saved"`
			Known    int `json:"known"`
			Deleted  int `json:"deleted"`
			Released int `json:"released"`
			Lost     int `json:"lost"`
		}(done)); err == nil {
			err = jsonErr
		}
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %d new, %d known", show.Text(path), done.Saved, done.Known)
	if done.Deleted > 0 {
		fmt.Fprintf(a.stdout, ", %d that had come back and are deleted", done.Deleted)
	}
	fmt.Fprintf(a.stdout, "; %s visible again\n", show.Count(done.Released, "message"))
	if err == nil && done.Saved+done.Known > 0 {
		fmt.Fprintf(a.stderr, "ingot: next: ingot quarantine list %s\n", path)
	}
	return err
}

// queueOf returns the queue that letters come from.
func queueOf(t *target.Target, dead bool) (quarantine.Queue, error) {
	q := quarantine.Queue{Client: t.SQS(), URL: t.QuarantineURL, Dead: dead}
	part := target.Quarantine
	if dead {
		q.URL, part = t.DeadLetterURL, target.DeadLetters
	}
	return q, t.Needs(part)
}

const listHelp = `Lists the messages that a folder holds: why each one was put into quarantine, and what became of it since. Then it
counts them by reason. It sends no request. States: open, edited, resent, dropped, and "sent, not deleted" for a
message that the next pull or resend deletes.

` + choosingHelp + `
For --type and --key it reads pipeline.yaml. If a key is hashed, INGOT_PII_KEY must be set to find messages whose note
does not have the key.

Exit codes: 0 fine, 1 a file cannot be used (it is named, and the others are listed), 2 usage.

` + listJSON

// listJSON documents --output json. A test compares it with listReport.
const listJSON = `With --output json, one object:
  messages[]              id, dead, sent, pulled, receives, verdict, reason, bytes, state
  reasons[]               verdict, reason, messages: how many there are of each`

// listReport is the JSON of list.
type listReport struct {
	Messages []listed  `json:"messages"`
	Reasons  []counted `json:"reasons"`
}

// listed is a letter in JSON.
type listed struct {
	ID       string    `json:"id"`
	Dead     bool      `json:"dead"`
	Sent     time.Time `json:"sent"`
	Pulled   time.Time `json:"pulled"`
	Receives int       `json:"receives"`
	Verdict  string    `json:"verdict,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Bytes    int       `json:"bytes"`
	State    string    `json:"state"`
}

func newList(a *app) *cobra.Command {
	var f quarantine.Filter
	var file string
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List the messages of a folder, and count them by reason",
		Long:  listHelp,
		Example: `  ingot quarantine list letters
  ingot quarantine list letters --reason missing-field --type order.placed
  ingot quarantine list letters --output json`,
		Args: folderAnd(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(cmd, nil, f)
			if err == nil {
				err = namesFiles(cmd, "pipeline")
			}
			if err == nil && c.plans() {
				c.Pipeline, err = a.plan(file)
			}
			if err != nil {
				return err
			}
			return a.list(args[0], c)
		},
	}
	filterFlags(cmd, &f)
	cmd.Flags().StringVar(&file, "pipeline", "pipeline.yaml", "the pipeline that finds types and keys")
	return cmd
}

func (a *app) list(path string, c choosing) error {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return usage(err)
	}
	letters, err := dir.List()
	letters = slices.DeleteFunc(letters, func(l *quarantine.Letter) bool { return !c.Chooses(l) })
	if !a.json() {
		a.listText(letters)
		return err
	}
	list := []listed{}
	for _, l := range letters {
		one := listed{ID: l.ID, Dead: l.Dead, Sent: l.Sent, Pulled: l.Pulled, Receives: l.Receives, Bytes: len(l.Body), State: l.State()}
		if l.Note != nil {
			one.Verdict, one.Reason = l.Note.Verdict, l.Note.Reason
		}
		list = append(list, one)
	}
	if jsonErr := a.writeJSON(listReport{list, append([]counted{}, countedBy(letters)...)}); err == nil {
		err = jsonErr
	}
	return err
}

func (a *app) listText(letters []*quarantine.Letter) {
	if len(letters) == 0 {
		fmt.Fprintln(a.stdout, "no messages")
		return
	}
	t := show.NewTable(3)
	t.Row("id", "verdict", "reason", "bytes", "sent", "state")
	short := shortIDs(letters)
	for i, l := range letters {
		verdict, reason := "", ""
		if l.Note != nil {
			verdict, reason = l.Note.Verdict, l.Note.Reason
		}
		if l.Dead {
			verdict = deadLetter
		}
		t.Row(short[i], show.Text(verdict), show.Text(reason), show.Comma(len(l.Body)), l.Sent.Format("2006-01-02 15:04"), l.State())
	}
	t.Print(a.stdout)
	open := 0
	sums := show.NewTable(0, 1)
	sums.Row("messages", "open", "verdict", "reason")
	for _, one := range countedBy(letters) {
		open += one.open
		sums.Row(show.Comma(one.Messages), show.Comma(one.open), show.Text(one.Verdict), show.Text(one.Reason))
	}
	fmt.Fprintln(a.stdout)
	sums.Print(a.stdout)
	fmt.Fprintf(a.stdout, "%s, %d of them open\n", show.Count(len(letters), "message"), open)
}

// shortIDs returns the beginnings of ids that tell them apart, at least eight characters.
func shortIDs(letters []*quarantine.Letter) []string {
	for n := 8; ; n++ {
		seen, short := map[string]bool{}, make([]string, len(letters))
		whole := true
		for i, l := range letters {
			short[i] = l.ID[:min(n, len(l.ID))]
			whole = whole && n >= len(l.ID)
			seen[short[i]] = true
		}
		if len(seen) == len(letters) || whole {
			return short
		}
	}
}

const resendHelp = `Sends messages again, without the attribute that Ingot added, proves with SQS's checksums that they were sent, and
then deletes them from their queue. At the end it prints how many were sent, and why the others were not.

Without an ID it sends every open or edited message that would be stored today, or those of them that you choose. With
IDs it sends these messages, except those that would be Poison again. An ID may be shortened. --anyway sends every
message that you name or choose, also those that will not be stored. --dry-run says what it would do.

` + choosingHelp + `

If the command is killed between sending and deleting, run it again: it goes on where it stopped. A second copy
is a Duplicate. On a FIFO queue a message keeps its group. --group names a group for messages that have none.

Use --replace if the quarantined message is right and the stored event is wrong. It needs IDs and --yes, and ingot
quarantine show must have shown you both. It deletes the stored event, on condition that it is still the one that was
shown, and then sends the message. Between the two, nothing is stored under the key. The deleted event is kept in the
message's file. Totals lose what the event added, and gain what the message adds. A total with values that cannot be
subtracted, such as min and max, is flagged.

Exit codes: 0 all are sent, 2 usage, 3 some stay where they are, 5 refused, 1 failed.

` + targetHelp + `

` + workedJSON

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
			c, err := chooses(cmd, args[1:], f)
			switch {
			case err != nil:
				return err
			case o.replace && len(c.ids) == 0:
				return usage(errors.New("--replace needs the ID of each message that is right"))
			case o.replace && (o.anyway || o.dry):
				return usage(errors.New("--replace cannot be combined with --anyway or --dry-run; ingot quarantine show says what it would replace"))
			case o.replace && !o.yes:
				return usage(errors.New("--replace deletes what is stored: write --yes to confirm that"))
			}
			t, err := a.find(cmd)
			if err != nil {
				return err
			}
			return a.resend(cmd, t, args[0], c, o)
		},
	}
	targetFlags(cmd)
	deployedFlag(cmd)
	filterFlags(cmd, &f)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "delete the stored event that the message conflicts with, and then send")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm --replace")
	cmd.Flags().BoolVar(&o.anyway, "anyway", false, "send also what would not be stored today")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be sent, and send nothing")
	cmd.Flags().StringVar(&o.group, "group", "", "on a FIFO queue, the group of messages that have none")
	return cmd
}

const dropHelp = `Deletes messages from their queue for good: those that you name, or the open ones that you choose. It says which ones
first, and needs --yes. Their files stay in the folder. Just before a message is deleted, its file is read again: if
the file is not there, the message is not deleted. --dry-run stops before anything is deleted.

` + choosingHelp + `

Exit codes: 0 all are deleted, 2 usage, 3 some are not, 1 failed.

` + targetHelp + `

` + workedJSON

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
			c, err := chooses(cmd, args[1:], f)
			if err == nil {
				err = c.none("drop")
			}
			if err != nil {
				return err
			}
			t, err := a.find(cmd)
			if err != nil {
				return err
			}
			return a.drop(cmd, t, args[0], c, o)
		},
	}
	targetFlags(cmd)
	deployedFlag(cmd)
	filterFlags(cmd, &f)
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm that the messages are to be deleted")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be deleted, and delete nothing")
	return cmd
}
