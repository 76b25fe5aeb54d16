package quarantine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/fields"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/triage"
)

const editHelp = `Opens the body of a message in your editor: the one that VISUAL or EDITOR names, or else vi. When you leave the
editor, the command checks whether SQS would take the body, and says what the event would be. The file also keeps the
body as it was pulled. Nothing is sent: ingot quarantine resend sends what you saved. If the message is an array, you
edit only the events that could not be stored.

A line end that the editor adds after the last line is removed.

With --set it opens no editor, and repairs all messages that you name or choose: it sets fields of the payload, and
leaves everything else as it is, also the envelope. If a message is an array, it sets them in each event that could
not be stored. It says which messages it will change, and at the end what they would be. --dry-run changes nothing.

` + command.FieldsHelp + `

` + choosingHelp + `

Exit codes: 0 it could be stored, or nothing was changed, 3 it would be quarantined again, 2 it cannot be sent. In the
last case your text is kept in a file, and the error names it. With --set: 0 all could be stored, 3 some could not, or
cannot be changed.

Only --set has JSON. ` + workedJSON

type editOptions struct {
	file string
	set  []string
	dry  bool
}

func newEdit(a *app) *cobra.Command {
	var o editOptions
	var f triage.Filter
	cmd := &cobra.Command{
		Use:   "edit DIR [ID…]",
		Short: "Change the body of a message with your editor, or a field of many",
		Long:  editHelp,
		Example: `  ingot quarantine edit letters 3f2a91c0
  ingot quarantine edit letters --reason missing-field --set currency=EUR --dry-run
  ingot quarantine edit letters 3f2a91c0 --pipeline pipeline.yaml`,
		Args: folderAnd(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(args[1:], f)
			switch {
			case err != nil:
				return err
			case len(o.set) == 0 && (len(c.ids) != 1 || o.dry):
				return cli.Usagef("an editor opens one message: write its ID alone; to change fields of several, write --set FIELD=VALUE")
			}
			if len(o.set) == 0 {
				return a.edit(cmd.Context(), args[0], c.ids[0], o.file)
			}
			if err := c.none("change"); err != nil {
				return err
			}
			return a.setFields(cmd.Context(), args[0], c, o)
		},
	}
	filterFlags(cmd, &f)
	cmd.Flags().StringVar(&o.file, "pipeline", "pipeline.yaml", "the pipeline that checks it")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a field of the payload as FIELD=VALUE, or FIELD:=JSON; repeatable")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "with --set, say what would be changed, and change nothing")
	return cmd
}

// changeable returns an error for a letter whose body can no longer be changed.
func changeable(l *triage.Letter) error {
	switch {
	case !l.Open() || l.Resent != nil:
		return fmt.Errorf("message %s is %s; a message that was sent can no longer be changed", l.ID, l.State())
	case l.OfStream():
		return fmt.Errorf("message %s: %w", l.ID, triage.ErrOfStream)
	}
	return nil
}

// setFields sets fields in the payloads of letters.
func (a *app) setFields(ctx context.Context, path string, c choosing, o editOptions) error {
	assignments, err := a.assignments(o.set)
	if err != nil {
		return err
	}
	dir, err := triage.OpenDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	if c.Pipeline, err = a.plan(o.file); err != nil {
		return err
	}
	letters, err := a.letters(dir, path, c)
	if err != nil {
		return err
	}
	a.sayPlan(letters, "change")
	j := &job{app: a, dir: dir, path: path, verb: "edited", dry: o.dry, personal: show.PersonalOf(c.Pipeline)}
	for _, l := range letters {
		text, err := "", changeable(l)
		if err == nil {
			if text, err = l.Set(assignments); err != nil { // it may quote the body
				err = errors.New(j.personal.Quoted(err.Error()))
			}
		}
		if err == nil {
			err = l.CheckBody(text)
		}
		switch {
		case err != nil:
		case o.dry:
			l.Edit(text)
		default:
			l, err = saveEdited(dir, l, text)
		}
		var today *triage.Today
		if err == nil {
			today, err = triage.Examiner{Pipeline: c.Pipeline}.Examine(ctx, l)
		}
		if err == nil && today.Verdict.Stored() {
			today = nil // nothing is wrong with it
		}
		j.note(l, today, err)
	}
	return j.end(ctx)
}

// assignments reads what --set gives.
func (a *app) assignments(words []string) ([]triage.Assignment, error) {
	given, err := a.Fields(words)
	if err != nil {
		return nil, err
	}
	var list []triage.Assignment
	once := map[string]any{}
	for _, f := range given {
		if err := fields.Set(once, f.Name, f.Text); err != nil {
			return nil, cli.Usagef("--set %s: %w", f.Name, err)
		}
		if !f.JSON {
			f.Text = event.Quote(f.Text)
		}
		list = append(list, triage.Assignment{Field: f.Name, Value: f.Text})
	}
	return list, nil
}

// saveEdited saves a letter with another body, and returns it as it is now. Somebody may have sent
// it since it was read.
func saveEdited(dir triage.Dir, l *triage.Letter, body string) (*triage.Letter, error) {
	now, err := dir.Load(l.ID)
	switch {
	case err != nil:
		return l, err
	case now == nil || !now.Open() || now.Resent != nil:
		return l, cli.Refusedf("message %s was resent, dropped or deleted in the meantime", l.ID)
	}
	now.Edit(body)
	return now, dir.Save(now)
}

func (a *app) edit(ctx context.Context, path, id, file string) error {
	dir, err := triage.OpenDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	l, err := dir.Find(id)
	if err != nil {
		return cli.Usage(err)
	}
	if err := changeable(l); err != nil {
		return cli.Refused(err)
	}
	p, err := a.plan(file)
	if err != nil {
		return err
	}
	draft := filepath.Join(path, ".editing-"+l.ID)
	before := l.Sends()
	text, err := a.inEditor(draft, before)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(before, "\n") {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	if text == before {
		fmt.Fprintln(a.Stdout, "nothing was changed")
		return os.Remove(draft)
	}
	if err := l.CheckBody(text); err != nil {
		return cli.Usagef("message %s stays as it was: %w. Your text is in %s", l.ID, err, draft)
	}
	now, err := saveEdited(dir, l, text)
	if err != nil {
		return fmt.Errorf("%w. Your text is in %s", err, draft)
	}
	if err := os.Remove(draft); err != nil {
		return err
	}
	today, err := triage.Examiner{Pipeline: p}.Examine(ctx, now)
	switch {
	case err != nil:
		return err
	case today.Verdict.Stored():
		fmt.Fprintf(a.Stdout,
			"saved; it can be stored, unless its key is taken\nnext: ingot quarantine resend %s %s\n  with the --stack or --local that it was pulled with\n", show.Text(path), l.ID)
		return nil
	}
	fmt.Fprintf(a.Stdout, "saved; it would still be %s (%s): %s\n", today.Verdict, today.Reason,
		show.Text(show.PersonalOf(p).Detail(today.Reason, today.Detail)))
	return cli.Difference()
}

// inEditor has the user change a text in a file of its own. The file stays.
func (a *app) inEditor(file, text string) (string, error) {
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if value, _ := a.Env(name); value != "" {
			editor = value
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	// The variable may hold arguments, as for git.
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, file)
	cmd.Stdout, cmd.Stderr = a.Stdout, a.Stderr
	if a.JSON() {
		cmd.Stdout = a.Stderr // standard output is for JSON
	}
	if a.Typed {
		cmd.Stdin = os.Stdin // an editor needs the terminal itself
	}
	if err := cmd.Run(); err != nil {
		return "", cli.Usagef("the editor %q ended with %w; set EDITOR to the editor that you want. Nothing was changed, and the text is in %s", editor,
			err, file)
	}
	changed, err := os.ReadFile(file)
	return string(changed), err
}
