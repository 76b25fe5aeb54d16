package quarantine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/fields"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

const editHelp = `Sets fields of the payload that are missing, null or empty in all messages that you name or choose, and leaves
everything else as it is. If a message is an array, it sets them in each event that could not be stored and is an
object. It says which messages it will change, and at the end what they would be. Nothing is sent: ingot quarantine
resend sends what was changed.

To change anything else, open DIR/ID.body in any editor. Then ingot quarantine show says what the message would be,
and resend sends it.

` + command.FieldsHelp + `

` + choosingHelp + `

Exit code 3: some could not be stored, or cannot be changed.`

type editOptions struct {
	file string
	set  []string
	over bool
	dry  bool
}

func newEdit(a *app) *cobra.Command {
	var o editOptions
	var f quarantine.Filter
	cmd := &cobra.Command{
		Use:   "edit DIR [ID…]",
		Short: "Change a field of many messages",
		Long:  editHelp,
		Example: `  ingot quarantine edit letters --reason missing-field:currency --set currency=EUR --dry-run
  ingot quarantine edit letters 3f2a91c0 --set currency=EUR --overwrite --pipeline pipeline.yaml`,
		Args: folderAnd(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(args[1:], f, "change")
			switch {
			case err != nil:
				return err
			case len(o.set) == 0:
				return cli.Usagef("write --set FIELD=VALUE; to change more than fields, open %s in an editor",
					filepath.Join(args[0], "ID.body"))
			}
			return a.setFields(cmd.Context(), args[0], c, o)
		},
	}
	filterFlags(cmd, &f)
	cmd.Flags().StringVar(&o.file, "pipeline", "pipeline.yaml", "the pipeline that checks it")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a field of the payload as FIELD=VALUE, or FIELD:=JSON; repeatable")
	cmd.Flags().BoolVar(&o.over, "overwrite", false, "also replace values that are there")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be changed, and change nothing")
	command.HasJSON(cmd, workedJSON)
	return cmd
}

// changeable returns an error for a letter whose body can no longer be changed.
func changeable(l *quarantine.Letter) error {
	switch {
	case !l.Open() || l.Resent != nil:
		return fmt.Errorf("message %s is %s; a message that was sent can no longer be changed", l.ID, l.State())
	case l.OfStream():
		return fmt.Errorf("message %s: %w", l.ID, quarantine.ErrOfStream)
	}
	return nil
}

// setFields sets fields in the payloads of letters.
func (a *app) setFields(ctx context.Context, path string, c choosing, o editOptions) error {
	assignments, err := a.assignments(o.set, o.over)
	if err != nil {
		return err
	}
	dir, err := quarantine.OpenDir(path)
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
		var today *quarantine.Today
		if err == nil {
			today, err = quarantine.Examiner{Pipeline: c.Pipeline}.Examine(ctx, l)
		}
		if err == nil && today.Verdict.Stored() {
			today = nil // nothing is wrong with it
		}
		j.note(l, today, err)
	}
	return j.end(ctx)
}

// assignments reads what --set gives.
func (a *app) assignments(words []string, over bool) ([]quarantine.Assignment, error) {
	given, err := a.Fields(words)
	if err != nil {
		return nil, err
	}
	var list []quarantine.Assignment
	once := map[string]any{}
	for _, f := range given {
		if err := fields.Set(once, f.Name, f.Text); err != nil {
			return nil, cli.Usagef("--set %s: %w", f.Name, err)
		}
		if !f.JSON {
			f.Text = event.Quote(f.Text)
		}
		path, _ := event.ParsePath(f.Name) // it was read
		list = append(list, quarantine.Assignment{Field: path, Value: f.Text, Overwrite: over})
	}
	return list, nil
}

// saveEdited saves a letter with another body, and returns it as it is now. Somebody may have sent
// it since it was read.
func saveEdited(dir quarantine.Dir, l *quarantine.Letter, body string) (*quarantine.Letter, error) {
	now, err := dir.Load(l.ID)
	switch {
	case err != nil:
		return l, err
	case now == nil || !now.Open() || now.Resent != nil:
		return l, cli.Refusedf("message %s was resent, dropped or deleted in the meantime", l.ID)
	}
	now.Edit(body)
	return now, errors.Join(dir.SaveBody(now), dir.Save(now))
}
