package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// worked says what became of one message of resend or drop.
type worked struct {
	ID        string `json:"id"`
	Done      bool   `json:"done"`
	MessageID string `json:"messageId,omitempty"`
	Error     string `json:"error,omitempty"`
}

// job is a resend or a drop of several messages.
type job struct {
	*app
	t       *target.Target
	dir     quarantine.Dir
	path    string
	same    string // the flags with which another command reaches the same stack
	verb    string // "resent"
	list    []worked
	refused bool
	failed  error // an error that is about the service, not about a message
}

// letters reads the letters with these ids. Without ids, it reads all open ones.
func (j *job) letters(ids []string) ([]*quarantine.Letter, error) {
	var list []*quarantine.Letter
	if len(ids) == 0 {
		all, err := j.dir.List()
		for _, l := range all {
			if l.Open() {
				list = append(list, l)
			}
		}
		return list, err
	}
	seen := map[string]bool{}
	for _, id := range ids {
		l, err := j.dir.Find(id)
		if err != nil {
			return nil, usage(err)
		}
		if !seen[l.ID] {
			list = append(list, l)
		}
		seen[l.ID] = true
	}
	return list, nil
}

// of returns the letters of one of the target's queues. It refuses those of another stack.
func (j *job) of(letters []*quarantine.Letter) (fresh, dead []*quarantine.Letter, err error) {
	for _, l := range letters {
		switch {
		case l.Queue == j.t.QuarantineURL && !l.Dead:
			fresh = append(fresh, l)
		case l.Queue == j.t.DeadLetterURL && l.Dead:
			dead = append(dead, l)
		default:
			return nil, nil, refused(fmt.Errorf("message %s was pulled from %s, which is not a queue of %s; nothing was changed", l.ID, show.Text(l.Queue), j.t))
		}
	}
	return fresh, dead, nil
}

// note records and prints the outcome for a message.
func (j *job) note(l *quarantine.Letter, err error) {
	one := worked{ID: l.ID, Done: err == nil}
	var no *quarantine.Refused
	switch {
	case err == nil:
		if l.Resent != nil {
			one.MessageID = l.Resent.MessageID
		}
		if !j.json() {
			fmt.Fprintf(j.stdout, "%s  %s\n", l.ID, j.verb)
		}
	default:
		if errors.As(err, &no) {
			j.refused = true
		}
		one.Error = show.Text(show.Error(err))
		if no != nil && no.Look {
			one.Error += ": " + strings.TrimSpace(fmt.Sprintf("ingot quarantine show %s %s %s", quoted(j.path), l.ID[:min(8, len(l.ID))], j.same))
		}
		if !j.json() {
			fmt.Fprintf(j.stdout, "%s  stays: %s\n", l.ID, one.Error)
		}
		if target.Refused(err) {
			j.failed = err
		}
	}
	j.list = append(j.list, one)
}

// run works on the letters of both queues.
func (j *job) run(ctx context.Context, letters []*quarantine.Letter, to string, do func(*quarantine.Work, *quarantine.Letter) error) error {
	fresh, dead, err := j.of(letters)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		letters []*quarantine.Letter
		dead    bool
	}{{fresh, false}, {dead, true}} {
		if len(of.letters) == 0 {
			continue
		}
		q, err := queueOf(j.t, of.dead)
		if err != nil {
			return err
		}
		w := &quarantine.Work{Queue: q, Dir: j.dir, To: to}
		ready, errs := w.Hold(ctx, of.letters)
		for _, l := range of.letters {
			if err := errs[l.ID]; err != nil {
				j.note(l, err)
			}
		}
		for n, l := range ready {
			if ctx.Err() != nil {
				fmt.Fprintf(j.stderr, "ingot: %d of %d are not done; go on with the same command\n", len(ready)-n, len(ready))
				break
			}
			j.note(l, do(w, l))
		}
	}
	return j.end(ctx)
}

// end returns the exit code.
func (j *job) end(ctx context.Context) error {
	if j.json() {
		if j.list == nil {
			j.list = []worked{}
		}
		if err := j.writeJSON(struct {
			Messages []worked `json:"messages"`
		}{j.list}); err != nil {
			return err
		}
	}
	done := 0
	for _, one := range j.list {
		if one.Done {
			done++
		}
	}
	fmt.Fprintf(j.stderr, "ingot: %s of %d %s\n", show.Comma(done), len(j.list), j.verb)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case j.failed != nil:
		return j.failed
	case j.refused:
		return &exitError{exitRefused, nil}
	case done < len(j.list):
		return difference()
	}
	return nil
}

// begin opens the folder, finds the letters that ids name, and says which stack they change.
func (a *app) begin(t *target.Target, path string, ids []string, verb string) (*job, []*quarantine.Letter, error) {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return nil, nil, usage(err)
	}
	j := &job{app: a, t: t, dir: dir, path: path, verb: verb}
	letters, err := j.letters(ids)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := j.of(letters); err != nil {
		return nil, nil, err
	}
	return j, letters, a.announce(t)
}

func (a *app) resend(cmd *cobra.Command, t *target.Target, path string, ids []string, o resendOptions) error {
	ctx := cmd.Context()
	if err := t.Needs(target.Queue); err != nil {
		return err
	}
	j, letters, err := a.begin(t, path, ids, "resent")
	if err != nil {
		return err
	}
	j.same = strings.Join(sameTarget(cmd, t), " ")
	var x quarantine.Examiner
	if o.replace || len(ids) == 0 || cmd.Flags().Changed("pipeline") { // a file that differs is refused, even if nothing needs it
		if x, err = a.examiner(cmd, t, true); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		if letters, err = j.storable(ctx, x, letters); err != nil {
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

// storable returns the letters that would be stored today, and those that only the ingest function
// can judge. For each of the others, it prints why it stays.
func (j *job) storable(ctx context.Context, x quarantine.Examiner, letters []*quarantine.Letter) ([]*quarantine.Letter, error) {
	var list []*quarantine.Letter
	for _, l := range letters {
		today, err := x.Examine(ctx, l)
		switch {
		case err != nil:
			return nil, err
		case l.Resent != nil || today.Verdict.Stored() || today.Elsewhere:
			list = append(list, l)
		case l.OfStream():
			j.note(l, quarantine.ErrOfStream)
		default:
			j.note(l, fmt.Errorf("it would be %s (%s) again; ingot quarantine show %s %s says more", today.Verdict, today.Reason, j.path, l.ID))
		}
	}
	return list, nil
}

func (a *app) drop(ctx context.Context, t *target.Target, path string, ids []string) error {
	j, letters, err := a.begin(t, path, ids, "dropped")
	if err != nil {
		return err
	}
	return j.run(ctx, letters, "", func(w *quarantine.Work, l *quarantine.Letter) error { return w.Drop(ctx, l) })
}
