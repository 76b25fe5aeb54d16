package quarantine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/cli"
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
	// Verdict and Reason are those that the message would get today, if they decide about it.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// WorkedReport is the JSON of resend, drop and edit --set.
type WorkedReport struct {
	Messages []worked  `json:"messages"`
	Done     int       `json:"done"`
	Stay     int       `json:"stay"`
	Reasons  []Counted `json:"reasons"`
	DryRun   bool      `json:"dryRun,omitempty"`
}

// workedJSON documents it. A test compares the two.
const workedJSON = `
  messages[]              id, done, messageId, error, verdict, reason. messageId is the one under which it was sent.
                          verdict and reason are those that it would get today, if they decide about it
  done, stay              how many messages are done, and how many stay as they are
  reasons[]               verdict, reason, messages: why messages stay, or what edited ones would still be
  dryRun                  true with --dry-run: done is then what would be done`

// job is work on several messages.
type job struct {
	*app
	t       *target.Target
	dir     quarantine.Dir
	path    string
	same    string // the flags with which another command reaches the same stack
	verb    string // "resent"
	dry     bool   // nothing is changed
	list    []worked
	refused bool
	failed  error // an error that is about the service, not about a message

	personal show.Personal // what errors do not show
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
			return nil, nil,
				cli.Refusedf("message %s was pulled from %s, which is not a queue of %s; nothing was changed", l.ID,
					show.Text(l.Queue), j.t)
		}
	}
	return fresh, dead, nil
}

// note records and prints the outcome for a message. today is nil if it does not matter.
func (j *job) note(l *quarantine.Letter, today *quarantine.Today, err error) {
	one := worked{ID: l.ID, Done: err == nil}
	if today != nil {
		one.Verdict, one.Reason = today.Verdict.String(), string(today.Reason)
	}
	var no *quarantine.Refused
	switch {
	case err == nil:
		if l.Resent != nil {
			one.MessageID = l.Resent.MessageID
		}
		if !j.JSON() {
			still := ""
			if today != nil {
				detail := j.personal.Detail(today.Reason, today.Detail)
				still = show.Text(fmt.Sprintf("; it would still be %s (%s): %s", one.Verdict, one.Reason, detail))
			}
			fmt.Fprintf(j.Stdout, "%s  %s%s\n", l.ID, j.does(), still)
		}
	default:
		if errors.As(err, &no) {
			j.refused = true
		}
		one.Error = show.Error(err)
		if no != nil {
			one.Error = no.Text(j.personal.Detail)
		}
		one.Error = show.Text(one.Error)
		if no != nil && no.Look {
			one.Error += ": " +
				strings.TrimSpace(fmt.Sprintf("ingot quarantine show %s %s %s", show.Quoted(j.path), l.ID[:min(8, len(l.ID))], j.same))
		}
		if !j.JSON() {
			fmt.Fprintf(j.Stdout, "%s  stays: %s\n", l.ID, one.Error)
		}
		if target.Refused(err) {
			j.failed = err
		}
	}
	j.list = append(j.list, one)
}

// does is what happens to a message.
func (j *job) does() string {
	if j.dry {
		return "would be " + j.verb
	}
	return j.verb
}

// run works on the letters of both queues.
func (j *job) run(ctx context.Context, letters []*quarantine.Letter, to string, do func(*quarantine.Work, *quarantine.Letter) error) error {
	fresh, dead, err := j.of(letters)
	if err != nil {
		return err
	}
	if j.dry {
		for _, l := range letters {
			j.note(l, nil, nil)
		}
		return j.end(ctx)
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
				j.note(l, nil, err)
			}
		}
		for n, l := range ready {
			if ctx.Err() != nil {
				j.Say("%d of %d are not done; go on with the same command", len(ready)-n, len(ready))
				break
			}
			j.note(l, nil, do(w, l))
		}
	}
	return j.end(ctx)
}

// end prints the sum, and returns the exit code.
func (j *job) end(ctx context.Context) error {
	sum := WorkedReport{Messages: j.list, DryRun: j.dry}
	var why []Counted
	for _, one := range j.list {
		if one.Done {
			sum.Done++
		} else {
			sum.Stay++
		}
		if one.Verdict != "" {
			why = append(why, Counted{Verdict: one.Verdict, Reason: one.Reason, Messages: 1})
		}
	}
	sum.Reasons = append([]Counted{}, summed(why)...)
	if sum.Messages == nil {
		sum.Messages = []worked{}
	}
	if err := j.printSum(sum); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case j.failed != nil:
		return j.failed
	case j.refused:
		return &cli.ExitError{Code: cli.Refuses}
	case sum.Stay > 0 || len(sum.Reasons) > 0:
		return cli.Difference()
	}
	return nil
}

func (j *job) printSum(sum WorkedReport) error {
	text := show.Comma(sum.Done) + " " + j.does()
	switch {
	case sum.Stay == 1:
		text += ", 1 stays"
	case sum.Stay > 1:
		text += fmt.Sprintf(", %s stay", show.Comma(sum.Stay))
	}
	if len(sum.Reasons) > 0 {
		text += ": " + texts(sum.Reasons)
	}
	return j.Print(sum, func(b *strings.Builder) { b.WriteString(text + "\n") })
}

// begin opens the folder and finds the letters that are chosen.
func (a *app) begin(cmd *cobra.Command, t *target.Target, path string, c choosing, verb string) (*job, []*quarantine.Letter, error) {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	if err := a.deployedFor(cmd, t, &c); err != nil {
		return nil, nil, err
	}
	letters, err := a.letters(dir, path, c)
	if err != nil {
		return nil, nil, err
	}
	j := &job{app: a, t: t, dir: dir, path: path, verb: verb, same: strings.Join(a.Again(t), " ")}
	_, _, err = j.of(letters)
	return j, letters, err
}
