package quarantine

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const quarantineHelp = `Works on the messages that Ingot gave up: those in the quarantine queue, and with pull --dead those in the
dead-letter queue. The commands, in the order in which you use them:

  pull     save the messages as files in a folder, and hide them from others while you work
  list     show what the folder holds, and count it by reason
  show     say why a message is there, what it would be today, and what is stored under its key
  edit     change a field of many bodies
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
	}
	cmd.AddCommand(newPull(a), newList(a), newShow(a), newEdit(a), newResend(a), newDrop(a))
	return cmd
}

// folderAnd returns a check of arguments: a folder, and from least to most ids. A negative most
// means any number.
func folderAnd(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "") || len(args) < 1+least || most >= 0 && len(args) > 1+most {
			return cli.Usagef("write %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}

const pullHelp = `Receives the messages of the quarantine queue, saves each one as a file DIR/ID.json, and keeps them hidden from others
until ctrl-C. Then all of them become visible again, within 5 seconds. If the command is killed, they become visible
after 2 minutes. DIR/ID.body holds the body: of an array, the events that could not be stored. Any editor may change
it. Then show says what the message would be, and resend sends it.

A file is never overwritten: what you edited stays. A message that was resent or dropped before, and has come back
because its deletion had no effect, is deleted again.

SQS hides a message for at most 12 hours. After that the command receives it again. A FIFO dead-letter queue gives at
most ten messages of one group at a time. If more messages wait than --max, --once says so: resend or drop those that
are saved, and pull again.`

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
				return cli.Usagef("--max %d: give 1 to 10000", o.most)
			}
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.pull(cmd.Context(), t, args[0], o)
		},
	}
	command.OnStack(cmd, " at the end\n  saved, known, deleted, released, lost, more")
	cmd.Flags().BoolVar(&o.dead, "dead", false, "pull from the dead-letter queue")
	cmd.Flags().BoolVar(&o.once, "once", false, "end when the queue gives no more, instead of at ctrl-C")
	cmd.Flags().IntVar(&o.most, "max", 10_000, "hold at most this many messages at a time: 1 to 10000")
	return cmd
}

func (a *app) pull(ctx context.Context, t *target.Target, path string, o pullOptions) error {
	q, err := queueOf(t, o.dead)
	if err != nil {
		return err
	}
	dir, err := quarantine.MakeDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	a.Say("pulling from %s of %s", q.Name(), t)
	waited := false
	done, err := q.Pull(ctx, dir, quarantine.Pulling{Most: o.most, Once: o.once, OnWaiting: func(held int) {
		if !waited && held > 0 {
			a.Say("%s hidden from others; ctrl-C makes them visible again", show.Count(held, "message"))
		}
		waited = held > 0
	}})
	if a.JSON() {
		if jsonErr := a.WriteJSON(struct {
			Saved    int  `json:"saved"`
			Known    int  `json:"known"`
			Deleted  int  `json:"deleted"`
			Released int  `json:"released"`
			Lost     int  `json:"lost"`
			More     bool `json:"more"`
		}(done)); err == nil {
			err = jsonErr
		}
		return err
	}
	fmt.Fprintf(a.Stdout, "%s: %d new, %d known", show.Text(path), done.Saved, done.Known)
	if done.Deleted > 0 {
		fmt.Fprintf(a.Stdout, ", %d that had come back and are deleted", done.Deleted)
	}
	fmt.Fprintf(a.Stdout, "; %s visible again\n", show.Count(done.Released, "message"))
	if done.More {
		a.Say("more messages wait in %s: resend or drop these, and pull again", q.Name())
	}
	if err == nil && done.Saved+done.Known > 0 {
		a.Say("next: ingot quarantine list %s", path)
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
