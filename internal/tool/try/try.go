// Package try proves a deployment. [Run] sends a few hundred marked events of every kind to a
// stack, waits, and compares every item, total and quarantined message with what must be there. It
// also looks at what this account's services do, as far as Ingot rests on it. Then it removes what
// it has stored. It is meant for a stack without events of others.
package try

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// TableClient is what a trial needs of DynamoDB, beside the store.
type TableClient interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput,
		...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
		...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Queues is what a trial needs of SQS.
type Queues interface {
	send.Queue
	quarantine.Client
}

// Config says what to try.
type Config struct {
	Pipeline          *pipeline.Pipeline // with the secret of the stack
	Store             *store.Store
	Tables            TableClient
	Streams           esm.StreamClient
	Queues            Queues
	Queue, Quarantine string         // URLs
	Number            int            // of new events, over all types
	Limit             time.Duration  // the longest wait for one thing
	Busy              bool           // there may be events of others
	Stack             *status.Source // nil: its account and its mappings are not looked at
	Env               env.Env
	Tell              func(format string, args ...any) // what is waited for
}

// Report is what a trial has found. It names no stack, account or key.
type Report struct {
	Counting string  `json:"counting,omitempty"` // marks or receipts; empty: nothing is counted
	Epoch    int64   `json:"epoch"`
	Types    int     `json:"types"`  // event types
	Sent     int     `json:"sent"`   // messages
	Checks   []Check `json:"checks"` // in the order in which they were made
	// Left names what the events leave behind after they are removed.
	Left []string `json:"left"`
}

// Check is one thing that was compared.
type Check struct {
	What   string `json:"what"`
	Result Result `json:"result"`
	Detail string `json:"detail,omitempty"`
}

// Result says how a check ended.
type Result string

// These are the results.
const (
	Right Result = "right"
	Wrong Result = "wrong"
	// NotShown means that this stack, or the time, does not show it.
	NotShown Result = "not shown"
)

// Right reports whether nothing is wrong.
func (r *Report) Right() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Result == Wrong })
}

// BusyError says that the events table has events of others.
type BusyError struct {
	Left []string // what the events of a trial would leave behind
}

func (e *BusyError) Error() string {
	left := "nothing"
	if len(e.Left) > 0 {
		left = strings.Join(e.Left, "; ")
	}
	return "the events table has events already, and a trial is meant for a stack without. Its events would be counted beside the " +
		"others. When it has removed them, this would still be there: " + left
}

// trial is one run.
type trial struct {
	Config
	report Report
	stored map[event.Key]*event.Item // what must be there, parts too
	types  map[string]bool           // those that were sent
	texts  map[event.Key]string      // the messages of stored wholes
	needed map[event.Key]string      // the messages of events that others require
	bodies map[string]string         // by body: the verdict with which it must be in quarantine
	// removed are the keys whose items the trial has removed.
	removed map[event.Key]bool
	began   time.Time
}

// Run tries the stack. It returns a report even if it stops with an error in between.
func Run(ctx context.Context, c Config) (*Report, error) {
	c.Env = c.Env.Real()
	t := &trial{Config: c, stored: map[event.Key]*event.Item{}, types: map[string]bool{}, texts: map[event.Key]string{},
		bodies: map[string]string{}, needed: map[event.Key]string{}, removed: map[event.Key]bool{}, began: c.Env.Now(),
		report: Report{Epoch: c.Pipeline.Epoch(), Checks: []Check{}, Left: []string{}}}
	t.report.Types = len(c.Pipeline.Describe().Spec.Events)
	for _, def := range c.Pipeline.Definitions() { // the heads say how the streams function counts
		head, err := c.Store.Head(ctx, def)
		if err != nil {
			return &t.report, err
		}
		if head != nil {
			t.report.Counting = head.Counting
		}
	}
	if !c.Busy {
		if err := t.alone(ctx); err != nil {
			return &t.report, err
		}
	}
	for _, step := range []func(context.Context) error{t.send, t.conflicts, t.letters, t.items, t.totals, t.statement, t.transaction,
		t.remove, t.stream, t.account} {
		if err := step(ctx); err != nil {
			return &t.report, err
		}
	}
	t.report.Left = append(t.report.Left, t.leaves()...)
	slices.Sort(t.report.Left)
	t.report.Left = slices.Compact(t.report.Left)
	return &t.report, nil
}

func (t *trial) found(what string, result Result, format string, args ...any) {
	t.report.Checks = append(t.report.Checks, Check{what, result, fmt.Sprintf(format, args...)})
}

// alone makes sure that the events table holds no event.
func (t *trial) alone(ctx context.Context) error {
	for page, err := range t.Store.ItemPages(ctx, tables.Segment{}) {
		if err != nil {
			return err
		}
		if len(page.All) > 0 {
			return &BusyError{t.leaves()}
		}
	}
	return nil
}

// leaves says what events leave behind when they are removed.
func (t *trial) leaves() (list []string) {
	for _, def := range t.Pipeline.Definitions() {
		left := "totals of " + def.Name + ", without events"
		var kept []string
		for _, v := range def.Values {
			if !v.Op.Additive() {
				kept = append(kept, v.Name+" ("+v.Op.String()+")")
			}
		}
		if len(kept) > 0 {
			left += ", but with what the trial has sent in " + strings.Join(kept, " and ")
		}
		list = append(list, left)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// send sends what is new, repeated, broken and too old, and waits for what must be stored.
func (t *trial) send(ctx context.Context) error {
	made, err := t.make()
	if err != nil {
		return err
	}
	if len(t.stored) == 0 {
		return errors.New("no event could be made up for this pipeline; `ingot send --sample TYPE` says why")
	}
	if len(t.needed) > 0 { // their events would wait in the queue until they come again
		if _, err := t.stores(ctx, t.needed, slices.Collect(maps.Values(t.needed))); err != nil {
			return err
		}
	}
	w, err := t.stores(ctx, t.texts, made)
	if err != nil {
		return err
	}
	n := len(t.texts)
	if err := t.refused(ctx, w.Rejected); err != nil {
		return err
	}
	t.found("events are stored", rightIf(w.Stored+w.Stale+w.Rejected == n), "%d of %d, %d rejected by bounds, %d left after %s",
		w.Stored, n, w.Rejected, w.Left, t.Limit)
	return nil
}

// stores sends messages, and waits until the events of these texts are stored.
func (t *trial) stores(ctx context.Context, texts map[event.Key]string, bodies []string) (send.Waited, error) {
	if err := t.lines(ctx, bodies); err != nil {
		return send.Waited{}, err
	}
	waiting := send.Waiting{}
	for key := range texts {
		waiting.Add(t.stored[key], t.Env.Now())
	}
	t.Tell("%d messages are sent; waiting until %d events are stored", t.report.Sent, len(waiting))
	return send.Wait(ctx, t.Tables, t.Store.Config().Events, waiting, t.judge, t.Limit, t.Env.Sleep, func(send.Waited) {})
}

// refused notes that the events that bounds refuse must be in quarantine.
func (t *trial) refused(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	for key, text := range t.texts {
		verdict, err := t.judge(ctx, t.stored[key])
		if err != nil {
			return err
		}
		if verdict == event.Rejected {
			t.bodies[text] = verdict.String()
			t.forget(t.stored[key])
		}
	}
	return nil
}

func (t *trial) judge(ctx context.Context, item *event.Item) (event.Verdict, error) {
	judged, _, err := repair.Of(t.Store).Judge(ctx, item)
	return judged.Verdict, err
}

// lines sends messages in random order.
func (t *trial) lines(ctx context.Context, bodies []string) error {
	rand.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	c := send.Config{Queue: t.Queues, URL: t.Queue, Env: t.Env}
	if strings.HasSuffix(t.Queue, ".fifo") {
		path, err := event.ParsePath("type")
		if err != nil {
			return err
		}
		c.Group = path
	}
	n, err := send.Lines(ctx, c, func(yield func(ndjson.Line, error) bool) {
		for i, body := range bodies {
			if !yield(ndjson.Line{Number: i + 1, Text: body}, nil) {
				return
			}
		}
	})
	t.report.Sent += n
	return err
}

// letters waits for what must be in quarantine, and takes it out.
func (t *trial) letters(ctx context.Context) error {
	want := len(t.bodies)
	wrong := ""
	queue := quarantine.Queue{Client: t.Queues, URL: t.Quarantine, Env: t.Env}
	t.Tell("waiting for %d messages in quarantine", want)
	for began := t.Env.Now(); len(t.bodies) > 0 && t.Env.Now().Sub(began) < t.Limit; {
		err := queue.Take(ctx, func(l *quarantine.Letter) bool {
			verdict, ours := t.bodies[l.Body]
			if ours && (l.Note == nil || l.Note.Verdict != verdict) {
				wrong = fmt.Sprintf("; a message that must be %s has the note %+v", verdict, l.Note)
			}
			delete(t.bodies, l.Body)
			return ours
		})
		if err != nil {
			return err
		}
		if len(t.bodies) > 0 {
			if err := t.Env.Sleep(ctx, 3*time.Second); err != nil {
				return err
			}
		}
	}
	t.found("what can never be stored is in quarantine, unchanged", rightIf(len(t.bodies) == 0 && wrong == ""), "%d of %d%s",
		want-len(t.bodies), want, wrong)
	return nil
}

// items compares each stored item with its plan.
func (t *trial) items(ctx context.Context) error {
	right, wrong := 0, ""
	for key, want := range t.stored {
		got, err := t.Store.Item(ctx, key)
		if err != nil {
			return err
		}
		switch {
		case got == nil: // it was rejected, or the check before has said so
		case !same(got, want):
			wrong = fmt.Sprintf("; one of type %s has another attribute than it must have", want.Type)
		default:
			right++
		}
	}
	t.found("each item is what its event says", rightIf(wrong == ""), "%d items%s", right, wrong)
	return nil
}

// same compares the attributes of items, without the payload, whose digest is compared.
func same(a, b *event.Item) bool {
	return a.Type == b.Type && a.ID == b.ID && a.At.Equal(b.At) && a.Digest == b.Digest && a.Epoch == b.Epoch &&
		a.ExpiresAt == b.ExpiresAt && (a.Revision == nil) == (b.Revision == nil) &&
		(a.Revision == nil || a.Revision.Cmp(*b.Revision) == 0) && a.Ties == b.Ties &&
		slices.Equal(a.Indexes, b.Indexes) && slices.Equal(a.Attributes, b.Attributes)
}

// totals waits until all totals are the sums over the items.
func (t *trial) totals(ctx context.Context) error {
	return t.counted(ctx, "every total is the sum over its events")
}

func (t *trial) counted(ctx context.Context, what string) error {
	if len(t.Pipeline.Definitions()) == 0 {
		t.found(what, NotShown, "the pipeline has no aggregates")
		return nil
	}
	t.Tell("waiting until the totals are the sums over the events")
	for began := t.Env.Now(); ; {
		r, err := verify.Totals(ctx, t.Pipeline, t.Store, t.Env.Now())
		if err != nil {
			return err
		}
		switch late := t.Env.Now().Sub(began) >= t.Limit; {
		case len(r.Differences) == 0 && r.Totals == 0:
			t.found(what, NotShown, "nothing is counted")
			return nil
		case len(r.Differences) == 0:
			if len(t.removed) > 0 {
				t.flags(r.Flagged)
			}
			t.found(what, Right, "%d totals over %d items", r.Totals, r.Items)
			return nil
		case late && t.Busy:
			t.found(what, NotShown, "%d differences, and others may be sending events; `ingot verify --twice` can tell", len(r.Differences))
			return nil
		case late:
			t.found(what, Wrong, "%d differences after %s", len(r.Differences), t.Limit)
			return nil
		}
		if err := t.Env.Sleep(ctx, 2*time.Second); err != nil {
			return err
		}
	}
}

// flags notes how many totals of each aggregate are flagged.
func (t *trial) flags(list []string) {
	of := map[string]int{}
	for _, flag := range list {
		name, _, _ := strings.Cut(flag, " ")
		of[name]++
	}
	for name, n := range of {
		t.report.Left = append(t.report.Left, fmt.Sprintf("flags on %d totals of %s; `ingot rebuild --accept` accepts them", n, name))
	}
}

// remove deletes what the trial has stored, and nothing else.
func (t *trial) remove(ctx context.Context) error {
	name, removed := t.Store.Config().Events, 0
	for key, item := range t.stored {
		condition := "#digest = :digest"
		_, err := t.Tables.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &name, Key: rows.KeyImage(key),
			ConditionExpression:       &condition,
			ExpressionAttributeNames:  map[string]string{"#digest": "digest"},
			ExpressionAttributeValues: rows.Image{":digest": rows.Binary(item.Digest[:])}})
		if gone := (*types.ConditionalCheckFailedException)(nil); err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("%d events are removed, and then: %w", removed, err)
		} else if err == nil {
			removed++
			t.removed[key] = true
			if item.Payload != nil {
				t.report.Left = append(t.report.Left, "objects of "+item.Type+" in the payload bucket, until its lifecycle ends them")
			}
		}
	}
	t.Tell("%d items are removed again", removed)
	return t.counted(ctx, "every total is the sum when they are removed")
}
