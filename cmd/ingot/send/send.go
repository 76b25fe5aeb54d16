package send

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

const sendJSON = `
  sent                    how many lines this call has certainly sent
  skipped                 how many lines --skip left out
  seconds                 how long it took to send them
  events                  with --wait: how many events the lines have
  stored, other, left     with --wait: how many events are stored; how many have another payload stored under their
                          key; how many are not stored yet
  older                   with --wait: events that are older than the stored revision; absent if there are none
  late                    with --wait: events that are not stored, and too near the end of retain to be; absent if
                          there are none
  refused                 with --wait: events that go to quarantine as Poison or Expired
  rejected                with --wait: events that are not stored after 5 seconds, and that a total refuses at the
                          moment; absent if there are none
  barred                  with --wait: events whose key is barred, because the event was erased; absent if there are
                          none
  elsewhere               with --wait: messages that point to S3, whose keys the tool does not know; absent if there
                          are none
  paused                  with --wait: true if the ingest function is paused, so that nothing is stored; absent
                          otherwise`

// sendGCPercent is high because little memory is in use, and each request makes much garbage.
const sendGCPercent = 400

type sendOptions struct {
	group, sample string
	set           []string
	rate          float64
	skip          int
	wait          bool
	limit         time.Duration
}

func newSend(a *app) *cobra.Command {
	var o sendOptions
	cmd := &cobra.Command{
		Use:   "send [FILE|-]",
		Short: "Send events to the queue",
		Long: `Sends the events of a file to the queue. Each line is one message; - is standard input. It sends the lines in batches
of ten, several at once. If you press ctrl-C, it prints the --skip with which to go on. An event that is sent again is
a Duplicate. If the first line is not a whole JSON value, nothing is sent.

With --sample TYPE it makes one event of that type, with the current time, and fills in what --set does not give. An
event that would be Poison is not sent. With --wait it waits until each event is stored, and says which are not, or
that the ingest function is paused. For an event that a bound refuses at the moment, it waits at most 5 seconds.

For a FIFO queue, --group names the field whose value is the message group. The order of the lines is then kept.

Exit code 3, with --wait: an event is refused or was erased, or another payload is stored. 6: not everything was
stored in time, or a payload is in S3.`,
		Example: `  ingot send orders.ndjson --local
  ingot send orders.ndjson --local --rate 100 --wait
  ingot send --sample order.placed --set order_id=o-9 --set total_cents:=250 --local --wait
  ingot send - --stack shop < orders.ndjson`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.sample != "" && len(args) > 0:
				return cli.Usagef("--sample makes the event, so no file can be named with it; leave one of them out")
			case o.sample == "" && len(o.set) > 0:
				return cli.Usagef("--set is for --sample TYPE, which makes an event; name the type")
			case o.sample == "" && len(args) == 0:
				return cli.Usagef("name a file with one event a line, or - for standard input, or make an event with --sample TYPE")
			case o.rate < 0 || o.rate > 1e6 || o.rate != o.rate:
				return cli.Usagef("--rate %v: give events a second, at most 1000000", o.rate)
			case o.skip < 0:
				return cli.Usagef("--skip %d: give a number of lines", o.skip)
			}
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			return a.send(cmd, file, o)
		},
	}
	command.OnPipeline(cmd, sendJSON)
	cmd.Flags().StringVar(&o.group, "group", "", "the field whose value is the message group, for a FIFO queue")
	cmd.Flags().Float64Var(&o.rate, "rate", 0, "send this many events a second (default as many as possible)")
	cmd.Flags().IntVar(&o.skip, "skip", 0, "leave out this many lines at the beginning, which were sent already")
	cmd.Flags().StringVar(&o.sample, "sample", "", "make one event of this type instead of reading a file")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a field of the sample as FIELD=VALUE, or FIELD:=JSON; repeatable")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the events are stored")
	cmd.Flags().DurationVar(&o.limit, "wait-limit", 5*time.Minute, "wait at most this long")
	return cmd
}

// sentReport is what send did.
type sentReport struct {
	Sent    int     `json:"sent"`
	Events  int     `json:"events,omitempty"` // that the messages have, if they were planned
	Skipped int     `json:"skipped"`
	Seconds float64 `json:"seconds"`
	Stored  *int    `json:"stored,omitempty"`
	Other   *int    `json:"other,omitempty"`
	Left    *int    `json:"left,omitempty"`
	Refused *int    `json:"refused,omitempty"`
	// Rejected counts the events that totals refuse.
	Rejected int `json:"rejected,omitempty"`
	// Older counts the events that are older than the stored revision.
	Older int `json:"older,omitempty"`
	// Late counts the events that are too near their expiry to be stored.
	Late int `json:"late,omitempty"`
	// Barred counts the events whose key is barred.
	Barred int `json:"barred,omitempty"`
	// Elsewhere counts the messages whose payload is in S3. Send does not wait for them.
	Elsewhere int `json:"elsewhere,omitempty"`
	// Paused says that nothing was stored, because the ingest function is paused.
	Paused bool `json:"paused,omitempty"`
}

func (a *app) send(cmd *cobra.Command, file string, o sendOptions) error {
	c := send.Config{Rate: o.rate}
	if o.group != "" {
		path, err := event.ParsePath(o.group)
		if err != nil {
			return cli.Usagef("--group %q: %w", o.group, err)
		}
		c.Group = path
	}
	t, err := a.Find(cmd.Context())
	if err != nil {
		return err
	}
	if err := t.Needs(target.Queue); err != nil {
		return err
	}
	switch fifo := strings.HasSuffix(t.QueueURL, ".fifo"); {
	case fifo && o.group == "":
		return cli.Usagef("the queue %s is a FIFO queue: name the field of the message group with --group", t.QueueURL)
	case !fifo && o.group != "":
		return cli.Usagef("the queue %s is not a FIFO queue: leave --group out", t.QueueURL)
	}
	var p *pipeline.Pipeline
	if o.wait || o.sample != "" || a.Pipeline != "" { // a file that differs is refused, even if nothing needs it
		if p, err = a.sentWith(cmd, t, o); err != nil {
			return err
		}
	}
	lines, total, closing, err := a.lines(file, o, p)
	if err != nil {
		return err
	}
	defer closing()
	if err := a.Announce(t); err != nil {
		return err
	}
	c.Queue, c.URL = t.SQS(), t.QueueURL
	defer debug.SetGCPercent(debug.SetGCPercent(sendGCPercent))
	tell := a.Progress()
	c.Sent = func(n int) { tell(show.Step{Phase: "sending", Done: o.skip + n, Total: total}) }
	waiting, none := send.Waiting{}, keyless{}
	if o.wait {
		lines = planned(lines, p, waiting, &none)
	}
	began := time.Now()
	sent, err := send.Lines(cmd.Context(), c, lines)
	tell(show.Step{})
	r := sentReport{Sent: sent, Skipped: o.skip, Seconds: time.Since(began).Seconds()}
	var wrong *notEventError
	if errors.As(err, &wrong) {
		return cli.Usage(wrong)
	}
	if err != nil {
		again := fmt.Sprintf("ingot send %s --skip %d", file, o.skip+sent)
		if file == "-" || o.sample != "" {
			again = fmt.Sprintf("--skip %d", o.skip+sent)
		}
		a.Say("%s sent for certain; go on with: %s", show.Count(sent, "event"), again)
		return fmt.Errorf("sending to %s: %w", t.QueueURL, err)
	}
	if o.wait {
		r.Elsewhere, r.Events = none.elsewhere, none.events
		return a.waitForStored(cmd, t, p, r, waiting, none, o.limit)
	}
	return a.sent(r)
}

// sentWith returns the deployed pipeline, as sending needs it. With --wait it has the secret of the
// stack. A sample is only tried out, so there any secret will do.
func (a *app) sentWith(cmd *cobra.Command, t *target.Target, o sendOptions) (*pipeline.Pipeline, error) {
	file, p, err := a.File(cmd.Context(), t, command.Use{Writes: true})
	switch {
	case err != nil:
		return nil, err
	case o.wait:
		return a.Hashing(cmd.Context(), t, file, p)
	case o.sample != "":
		return file.Load(pipeline.Secret([]byte(show.StandIn)))
	}
	return p, nil
}

// sent says what was sent.
func (a *app) sent(r sentReport) error {
	text := show.Count(r.Sent, "event") + " sent"
	if r.Events > 0 && r.Events != r.Sent {
		text = show.Count(r.Events, "event") + " sent in " + show.Count(r.Sent, "message")
	}
	if r.Seconds >= 1 { // the rate of less says nothing
		text += fmt.Sprintf(" in %.1f s, %s a second", r.Seconds, show.Comma(int(float64(r.Sent)/r.Seconds)))
	}
	return a.Print(r, func(b *strings.Builder) { b.WriteString(text + "\n") })
}

func (a *app) waitForStored(cmd *cobra.Command, t *target.Target, p *pipeline.Pipeline, r sentReport, waiting send.Waiting, none keyless,
	limit time.Duration) error {
	ctx := cmd.Context()
	st, err := a.Store(t, p)
	if err != nil {
		return err
	}
	judge := func(ctx context.Context, item *event.Item) (event.Verdict, error) {
		judged, _, err := repair.Of(st).Judge(ctx, item)
		return judged.Verdict, err
	}
	paused, unknown := a.SayPaused(cmd, t)
	tell := a.Progress()
	w, err := send.Wait(ctx, t.DynamoDB(), t.EventsTable, waiting, judge, limit, env.Env{}.Real().Sleep, func(w send.Waited) {
		tell(show.Step{Phase: "storing", Done: len(waiting) - w.Left, Total: len(waiting)})
	})
	tell(show.Step{})
	if err != nil {
		return fmt.Errorf("waiting until the events are stored: %w", err)
	}
	if w.Left > 0 && !paused && unknown == nil { // it may have been paused since
		paused, _ = a.SayPaused(cmd, t)
	}
	r.Stored, r.Other, r.Left, r.Refused, r.Rejected, r.Barred, r.Paused = &w.Stored, &w.Other, &w.Left, &none.refused, w.Rejected,
		w.Barred, paused
	r.Older, r.Late = w.Stale, w.Late
	if err := a.sent(r); err != nil {
		return err
	}
	if !a.JSON() {
		fmt.Fprintf(a.Stdout, "%s stored", show.Count(w.Stored, "event"))
		for _, one := range []struct {
			n    int
			what string
		}{{w.Stale, "older than what is stored"}, {w.Other, "with another payload under the key"},
			{w.Rejected, "rejected, as a total is now"},
			{w.Late, "too near the end of retain, so quarantined"},
			{w.Barred, "erased before, so the key is barred"}, {w.Left, "not stored yet"}, {none.refused, goes(none.refused)},
			{r.Elsewhere, "with the payload in S3, not waited for"}} {
			if one.n > 0 {
				fmt.Fprintf(a.Stdout, ", %d %s", one.n, one.what)
			}
		}
		fmt.Fprintln(a.Stdout)
	}
	if none.first != "" {
		a.Say("the first that is refused is %s",
			show.Text(excerpt.Of(show.PersonalOf(p).Detail("", none.first), 400)))
	}
	if none.refused+w.Rejected+w.Late > 0 {
		a.Say("ingot quarantine pull DIR fetches what is in quarantine, and ingot quarantine list DIR says why it is there")
	}
	switch {
	case w.Left > 0:
		return cli.Unsure()
	case w.Other+none.refused+w.Rejected+w.Late+w.Barred > 0:
		return cli.Difference()
	case r.Elsewhere > 0:
		return cli.Unsure()
	}
	return nil
}

// goes says what happens to refused events.
func goes(n int) string {
	if n == 1 {
		return "refused, so it goes to quarantine"
	}
	return "refused, so they go to quarantine"
}

// lines returns the lines to send, and how many there are: 0 if nobody knows.
func (a *app) lines(file string, o sendOptions, p *pipeline.Pipeline) (iter.Seq2[ndjson.Line, error], int, func(), error) {
	nothing := func() {}
	if o.sample != "" {
		set, err := a.PayloadFields(o.set)
		if err != nil {
			return nil, 0, nothing, err
		}
		text, err := send.Sample(p, o.sample, set, time.Now(), time.Now().UnixNano())
		if err != nil {
			return nil, 0, nothing, cli.Usage(err)
		}
		return func(yield func(ndjson.Line, error) bool) { yield(ndjson.Line{Number: 1, Text: text}, nil) }, 1, nothing, nil
	}
	total := 0
	if file != "-" {
		n, first, err := countLines(file)
		if err != nil {
			return nil, 0, nothing, cli.Usagef("%s: %w; name a file with one event a line", file, err)
		}
		if notEvent(first) {
			return nil, 0, nothing, cli.Usage(&notEventError{file, first})
		}
		total = n
	}
	from, name, err := a.Open(file, "name a file with one event a line")
	if err != nil {
		return nil, 0, nothing, cli.Usage(err)
	}
	return skipped(ofEvents(ndjson.Lines(from), name), o.skip), total, func() { _ = from.Close() }, nil
}

// notEvent reports whether a first line shows that the input is not one event on each line: it is
// not JSON that an event could be, or only the beginning of one.
func notEvent(first string) bool {
	return first != "" && !strings.HasPrefix(first, "{") && !strings.HasPrefix(first, "[") || ndjson.Unfinished(first)
}

// notEventError says that an input does not have one event on each line.
type notEventError struct{ name, first string }

func (e *notEventError) Error() string {
	what := "is not JSON"
	if ndjson.Unfinished(e.first) {
		what = "is only the beginning of its JSON"
	}
	return fmt.Sprintf("%s: its first line %s, and each line is sent as a message of its own; write one event on each line%s", e.name, what,
		ndjson.Advice(e.first))
}

// ofEvents yields the lines, or a [notEventError] if the first of them is one. Standard input
// cannot be read before it is sent.
func ofEvents(lines iter.Seq2[ndjson.Line, error], name string) iter.Seq2[ndjson.Line, error] {
	return func(yield func(ndjson.Line, error) bool) {
		seen := false
		for line, err := range lines {
			if !seen && err == nil && notEvent(line.Text) {
				yield(line, &notEventError{name, line.Text})
				return
			}
			seen = true
			if !yield(line, err) {
				return
			}
		}
	}
}

// countLines counts the lines of a file that are not empty, and returns the first of them.
func countLines(name string) (n int, first string, err error) {
	f, err := cli.OpenFile(name)
	if err != nil {
		return 0, "", textfile.Cause(err)
	}
	defer f.Close()
	for line, err := range ndjson.Lines(f) {
		if err != nil && !errors.Is(err, ndjson.ErrTooLong) {
			return 0, "", err
		}
		if n++; n == 1 {
			first = line.Text
		}
	}
	return n, first, nil
}

// skipped leaves out the first lines.
func skipped(lines iter.Seq2[ndjson.Line, error], n int) iter.Seq2[ndjson.Line, error] {
	return func(yield func(ndjson.Line, error) bool) {
		left := n
		for line, err := range lines {
			if left > 0 && (err == nil || errors.Is(err, ndjson.ErrTooLong)) {
				left--
				continue
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// keyless counts the events that nobody waits for, because they have no key.
type keyless struct {
	refused   int    // those that go to quarantine
	first     string // the first of them: its line, and why
	elsewhere int    // lines that point to S3
	events    int    // of all lines, waited for or not
}

// refuse counts an event that is refused. why is nil if it is too old.
func (k *keyless) refuse(line int, why error) {
	if k.refused++; k.refused > 1 {
		return
	}
	text := event.Expired.String() + ": its retain is over"
	if why != nil {
		text = why.Error()
	}
	k.first = fmt.Sprintf("line %d, %s", line, text)
}

// planned notes the key of each line, or of each event of a line that is an array. It counts those
// without a key.
func planned(lines iter.Seq2[ndjson.Line, error], p *pipeline.Pipeline, waiting send.Waiting, none *keyless) iter.Seq2[ndjson.Line, error] {
	return func(yield func(ndjson.Line, error) bool) {
		for line, err := range lines {
			if err == nil {
				message := envelope.Message{Body: line.Text}
				list := p.PlanEach(message)
				_, points := envelope.PointerOf(message)
				now := time.Now()
				none.events += len(list)
				for _, one := range list {
					switch {
					case one.Refusal != nil && one.Refusal.Verdict == event.Dropped:
					case one.Refusal != nil && points:
						none.elsewhere++
					case one.Refusal != nil:
						none.refuse(line.Number, one.Refusal)
					case one.Item.Expired(now):
						none.refuse(line.Number, nil)
					case payloads.IsAhead(one.Item, now):
						none.refuse(line.Number, payloads.TooFarAhead(one.Item))
					default:
						waiting.Add(one.Item, now)
					}
				}
			}
			if !yield(line, err) {
				return
			}
		}
	}
}
