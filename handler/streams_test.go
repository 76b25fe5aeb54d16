package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// This test checks the bytes of the answer. `state` is there, and is an object, exactly if the
// event has a window. Lambda fails a window's batch without it. The list has Lambda's own names.
func TestStreamsAnswerBytes(t *testing.T) {
	w := newWorld(t).started()
	w.expect(batch(w.inserted(1, "1", 5)), `{"batchItemFailures":[],"state":{}}`)
	w.expect(batch(), done)
	final := batch()
	final["isFinalInvokeForWindow"], final["state"] = true, map[string]int{"old": 1}
	w.expect(final, `{"batchItemFailures":[],"state":{}}`)
	w.expect(plain(), `{"batchItemFailures":[]}`)
	w.streams.OnChange = func(context.Context, event.Change) error { return errLost }
	w.expect(batch(w.inserted(2, "2", 5)), `{"batchItemFailures":[{"itemIdentifier":"000000000000000000002"}],"state":{}}`)
	w = newWorld(t, counting(aggregate.Receipts)).started()
	w.expect(plain(w.inserted(1, "1", 5)), `{"batchItemFailures":[]}`)
	w.expect(batch(w.inserted(2, "2", 5)), `{"batchItemFailures":[],"state":{}}`)
	w.fails("text", "")
}

// Marks need the shard, but receipts do not. Nothing is guessed.
func TestShardID(t *testing.T) {
	for w, c := range bothWorlds(t) {
		e := plain(w.inserted(1, "1", 5))
		if c == aggregate.Marks {
			w.fails(e, "TumblingWindowInSeconds")
			must.Equal(t, w.total("totals").N, 0)
			continue
		}
		w.expect(e, failures())
		w.sums(t, "totals", "1", "5")
		w.expect(batch(w.inserted(1, "1", 5)), done) // the same change, now with its shard, is counted already
		w.sums(t, "totals", "1", "5")
	}
}

func TestRecordsOutOfOrder(t *testing.T) {
	w := newWorld(t).started()
	a, b := w.image(order("1", 5)), w.image(order("2", 5))
	long := insert(1, a)
	long["dynamodb"].(map[string]any)["SequenceNumber"] = "9000000000000000000000" // 22 digits: lower as text, higher as a number
	w.fails(batch(insert(2, a), insert(1, b)), "comes after")
	w.fails(batch(insert(2, a), insert(2, b)), "comes after") // the same twice
	w.fails(batch(long, insert(999, b)), "comes after")       // as numbers, and not as text
	must.Equal(t, w.total("totals").N, 0)
	w.expect(batch(insert(999, b), long), done)
	w.sums(t, "totals", "2", "10")
}

// All records of an event come from one stream, because it must be certain to which lane the mark
// belongs.
func TestRecordsOfTwoStreams(t *testing.T) {
	w := newWorld(t).started()
	other := w.inserted(2, "2", 5)
	other["eventSourceARN"] = streamARN + "-other"
	w.fails(batch(w.inserted(1, "1", 5), other), "")
	must.Equal(t, w.total("totals").N, 0)
}

func TestForeignItems(t *testing.T) {
	w := newWorld(t).started()
	foreign := attributes{"PK": {"S": "USER#1"}, "SK": {"S": "x"}, "list": {"L": []any{}}, "set": {"SS": []string{"a"}},
		"none": {"NULL": true}}
	w.expect(batch(insert(1, foreign), w.inserted(2, "1", 5), changed(3, foreign, foreign), expiry(4, foreign)),
		done)
	w.sums(t, "totals", "1", "5")
	must.Equal(t, w.reported(), "Received 4, Foreign 3, Inserted 1, Updates 2")
	must.Equal(t, len(w.quarantined()), 0)
	// If people add attributes to an item of Ingot's, it stays readable, and no total changes.
	img := w.image(order("1", 5))
	more := img.with("note", "L", []any{map[string]any{"S": "x"}}).with("tags", "SS", []string{"a"}).with("raw", "BS", []string{"AA=="})
	w.expect(batch(changed(5, img, more)), done)
	must.Equal(t, w.reported(), "Received 1")
}

// fence returns the record of a fence.
func fence(n int, run, name string) map[string]any {
	return insert(n, attributes{"PK": {"S": fences.Key(run, name).PK}, "SK": {"S": "-"}, "expiresAt": {"N": "4070000000"}})
}

// noted returns the notes of fences: for each the run, the sequence number and what it lists.
func (w *world) noted() string {
	w.t.Helper()
	out, err := w.Engine.DynamoDB().Scan(w.t.Context(),
		&dynamodb.ScanInput{TableName: aws.String(stack.Aggregates), ConsistentRead: aws.Bool(true)})
	must.Succeed(w.t, err)
	text := func(v types.AttributeValue) string {
		s, _ := v.(*types.AttributeValueMemberS)
		return strings.TrimLeft(s.Value, "0")
	}
	var list []string
	for _, item := range out.Items {
		if run, is := strings.CutPrefix(text(item["PK"]), fences.Prefix); is {
			one := run + " " + text(item[fences.Sequence])
			if item[fences.Passed] != nil {
				one += " " + text(item[fences.Passed])
			} else if text(item["SK"]) != fences.LaneNote(fences.Streams, event.Lane{StreamARN: streamARN, ShardID: "shardId-1"}) {
				one += " in the lane " + text(item["SK"])
			}
			list = append(list, one)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// A fence is noted if and only if every record up to it is done. A fence is not an event: nothing
// is counted, kept or put into quarantine for it.
func TestFences(t *testing.T) {
	w := newWorld(t)
	first, bad, last := w.inserted(1, "1", 5), w.inserted(3, "bad", 5), w.inserted(5, "2", 5)
	gone := attributes{"PK": {"S": fences.Key("r", "0").PK}, "SK": {"S": "-"}}
	for name, c := range map[string]struct {
		batch any
		want  string
	}{
		"all is done":                 {batch(first, fence(2, "r", "0"), last), "r 2"},
		"the last of several":         {batch(fence(2, "r", "0"), fence(4, "r", "1"), last), "r 4"},
		"two questions":               {batch(fence(2, "r", "0"), fence(4, "q", "0")), "q 4, r 2"},
		"a later record fails":        {batch(first, fence(2, "r", "0"), bad, last), "r 2"},
		"an earlier record fails":     {batch(first, bad, fence(4, "r", "0"), last), ""},
		"one before, one after":       {batch(fence(2, "r", "0"), bad, fence(4, "r", "1")), "r 2"},
		"removed by time to live":     {batch(first, expiry(2, gone)), ""},
		"written again":               {batch(first, changed(2, gone, gone)), ""},
		"the whole batch fails":       {batch(fence(2, "r", "0"), first), ""},
		"a key that is not a fence's": {batch(insert(2, attributes{"PK": {"S": "%fences"}, "SK": {"S": "-"}})), ""},
		"no question, no note":        {batch(first, last), ""},
	} {
		w := newWorld(t).started()
		w.streams.OnChange = func(_ context.Context, c event.Change) error {
			if c.New != nil && c.New.ID == "bad" {
				return errLost
			}
			return nil
		}
		_, _ = w.deliver(c.batch)
		must.Equal(t, w.noted(), c.want, name)
		must.Equal(t, w.counted[0].Quarantined+w.counted[0].Archived+len(w.quarantined()), 0, name, w.counted[0])
	}
	// Without a shard id, the note lists the fences.
	w = newWorld(t, counting(aggregate.Receipts)).started()
	w.expect(plain(first, fence(2, "r", "7"), fence(4, "r", "9")), `{"batchItemFailures":[]}`)
	must.Equal(t, w.noted(), "r 4 7 9")
}

// What happens to a note changes nothing for the batch. After a failure, or a death before it, the
// note comes with the next delivery if there is one.
func TestNotesThatAreLost(t *testing.T) {
	note := func(input any) bool {
		in, is := input.(*dynamodb.PutItemInput)
		return is && *in.TableName == stack.Aggregates
	}
	w := newWorld(t, func(s *setup) {
		s.env = func(c *testworld.Clock) env.Env { // a death ends all that runs
			e := c.Env(func() float64 { return 0.5 })
			e.Deadline = nil
			return e
		}
	}).started()
	e := batch(w.inserted(1, "1", 5), fence(2, "r", "0"))
	w.faults = []fault{{API: "PutItem", Applies: note, Before: errLost}}
	w.expect(e, done)
	w.sums(t, "totals", "1", "5")
	must.Say(t, w.log.String(), "waits longer; counting goes on")
	must.Equal(t, w.noted(), "")
	w.faults = []fault{{API: "UpdateItem", Kill: true}} // it is counted, and the function dies
	box := testworld.Sandbox{Cold: func(context.Context) (esm.Handler, error) { return lambda.NewHandler(w.streams.Handle).Invoke, nil }}
	e = batch(w.inserted(3, "2", 5), fence(4, "r", "1"))
	if _, err := box.Invoke(deadline(t), marshal(t, e)); err == nil || w.noted() != "" {
		t.Errorf("%v, noted %q", err, w.noted())
	}
	w.expect(e, done)
	w.sums(t, "totals", "2", "10")
	must.Equal(t, w.noted(), "r 4")
}

// A stamp may be above the function's own epoch, in either image. Old code never skips what it does
// not know.
func TestStampFromTheFuture(t *testing.T) {
	w := newWorld(t).started()
	img := w.image(order("2", 5))
	later := img.with("epoch", "N", "4")
	for name, r := range map[string]map[string]any{
		"new image": insert(2, later), "old image": changed(2, later, img), "removed": removed(2, later),
	} {
		w.fails(batch(w.inserted(1, "1", 5), r), "epoch 4")
		must.Equal(t, w.total("totals").N, 0, name)
		// It counts as a batch that is not proven, so that the function's metrics show it.
		must.Equal(t, w.reported(), "Received 2, Unproven", name)
	}
}

// While pipeline.yaml and the table do not agree, a batch fails as a whole and counts nothing. The
// pipeline from before goes on with it.
func TestBatchOfARefusedStart(t *testing.T) {
	for w := range bothWorlds(t) {
		before, spec := w.store, orders()
		spec.Aggregates["hasty"] = spec.Aggregates["totals"] // without a new epoch
		p, err := pipeline.New(spec)
		must.Succeed(t, err)
		st, err := w.Store(p)
		must.Succeed(t, err)
		w.restart(st)
		e := batch(w.inserted(1, "1", 5))
		for range 2 {
			w.fails(e, "hasty since 1 has no head")
		}
		w.restart(before)
		w.expect(e, done)
		w.sums(t, "totals", "1", "5")
	}
}

// A function that is rolled back writes on the heads of newer generations that they miss what it
// counts.
func TestRolledBack(t *testing.T) {
	for w, c := range bothWorlds(t) {
		newest := w.startNewer(c)
		w.started()
		heads := func() string {
			h, err := w.store.Head(context.Background(), newest)
			if err != nil || h == nil {
				t.Fatal(h, err)
			}
			return fmt.Sprintf("totals: %d %t, newest: %d %t %.4s", w.head("totals").Behind, w.head("totals").Building, h.Behind,
				h.Building, h.Flag)
		}
		img := w.image(order("1", 5))
		w.expect(batch(insert(1, img), insert(2, img.with("PK", "S", "ORDER#9"))), done)
		must.Equal(t, heads(), "totals: 0 false, newest: 1 true ")
		must.Say(t, w.reported(), "Behind 2")
		w.expect(batch(removed(3, img)), done) // this lets nothing in
		must.Equal(t, heads(), "totals: 0 false, newest: 1 true ")
		w.expect(batch(insert(4, img.with("digest", "S", "odd"))), done) // nobody knows which totals it would be in
		must.Equal(t, heads(), "totals: 0 false, newest: 1 true 2099")
	}
}

// startNewer starts a function of epoch 9 on the same tables. It adds one aggregate, which is
// complete as if it had been rebuilt.
func (w *world) startNewer(c aggregate.Counting) *aggregate.Definition {
	w.t.Helper()
	spec := orders()
	spec.Epoch = 9
	spec.Aggregates["newest"] = pipeline.AggregateSpec{Since: 9,
		From: map[string]pipeline.FromSpec{"parcel": {Values: map[string]string{"parcels": "count"}}}, OnExpire: "subtract"}
	p, err := pipeline.New(spec)
	must.Succeed(w.t, err)
	st, err := store.New(tables.Config{Client: w.Engine.DynamoDB(), Pipeline: p, Events: "events", Aggregates: "totals", Counting: c})
	must.Succeed(w.t, err)
	def, _ := p.Definition("newest")
	must.Succeed(w.t, st.Start(deadline(w.t)))
	pass, err := repair.Of(st).BeginPass(deadline(w.t), def)
	if err = errors.Join(err, repair.Of(st).ClearBuilding(deadline(w.t), def, pass.Behind)); err != nil {
		w.t.Fatal(err)
	}
	return def
}

// behind says which epoch a head is behind, and whether it is being built.
func (w *world) behind(name string) string {
	w.t.Helper()
	h := w.head(name)
	return fmt.Sprint(h.Behind, map[bool]string{true: ", building"}[h.Building])
}

// refuseHeads makes every write to a head fail.
func (w *world) refuseHeads() {
	w.faults = []fault{{API: "UpdateItem", Always: true, Before: errDenied, Applies: func(in any) bool {
		return strings.HasPrefix(rows.TextOf(in.(*dynamodb.UpdateItemInput).Key["PK"]), "G#")
	}}}
}

// A new image that is stamped below a generation marks the generation's head, before the answer. An
// old image does not.
func TestStampBelow(t *testing.T) {
	for w := range bothWorlds(t) {
		img := w.image(order("1", 5))
		below := img.with("epoch", "N", "1")
		w.expect(batch(insert(1, below)), done)
		w.sums(t, "totals", "1", "5") // since 1
		w.sums(t, "live", "0", "0")   // since 2
		must.Equal(t, w.behind("live"), "1, building")
		must.Equal(t, w.behind("totals"), "0")
		w.expect(batch(changed(2, below, img)), done) // touched
		w.sums(t, "totals", "1", "5")
		w.sums(t, "live", "1", "5")
		must.Equal(t, w.head("live").Behind, 1, "an old image raises behind")
		w.expect(batch(insert(3, w.image(order("2", 7)).with("epoch", "", nil))), done) // no stamp at all
		must.Equal(t, w.behind("totals"), "1, building")
		// In a pass that has begun since then, a head that cannot be written holds the batch.
		live, _ := w.plan.Definition("live")
		_, err := repair.Of(w.store).BeginPass(deadline(t), live)
		must.Succeed(t, err)
		w.refuseHeads()
		w.expect(batch(insert(4, below.with("PK", "S", "ORDER#9")), w.inserted(5, "10", 1)), from(4))
	}
}

func TestOnChange(t *testing.T) {
	for w := range bothWorlds(t) {
		var seen []string
		failAt := sequence(3)
		w.streams.OnChange = func(_ context.Context, c event.Change) error {
			if c.Sequence.String() == failAt {
				return errLost
			}
			seen = append(seen, c.Sequence.String()[20:]+c.New.ID)
			return nil
		}
		odd := func(n int) map[string]any { return insert(n, w.image(order(fmt.Sprint(n), 1)).with("odd", "Z", 1)) }
		e := batch(w.inserted(1, "1", 5), odd(2), w.inserted(3, "3", 7), odd(4), w.inserted(5, "5", 9))
		w.expect(e, from(3))
		w.sums(t, "totals", "1", "5") // nothing from the change that the hook refused
		must.Equal(t, len(w.quarantined()), 1)
		failAt = ""
		w.expect(e, done)
		w.sums(t, "totals", "3", "21")
		must.Equal(t, strings.Join(seen, " "), "11 11 33 55")
	}
}

// If a batch has several failures, the lowest record counts, in whatever order they are found.
// Those of the archive are found first, then those of quarantine, then those of the totals.
func TestTheLowestFailureWins(t *testing.T) {
	kinds := map[string]func(n int, img attributes) map[string]any{
		"archive":    expiry,
		"quarantine": func(n int, img attributes) map[string]any { return insert(n, img.with("odd", "Z", 1)) },
		"totals":     insert,
	}
	for _, at := range []string{"archive quarantine totals", "archive totals quarantine", "quarantine archive totals",
		"quarantine totals archive", "totals archive quarantine", "totals quarantine archive"} {
		for w, c := range bothWorlds(t) {
			var records []map[string]any
			for i, kind := range strings.Fields(at) {
				records = append(records, kinds[kind](10+i, w.image(order(kind, 1))))
			}
			for _, api := range []string{"PutObject", "SendMessageBatch", "UpdateItem", "TransactWriteItems"} {
				w.faults = append(w.faults, fault{API: api, Always: true, Before: errDenied})
			}
			t.Log(c, at)
			w.expect(batch(records...), from(10))
		}
	}
}

// The answer names the lowest record that is not proven.
func TestLowestUnproven(t *testing.T) {
	for _, c := range bothWays {
		w := newWorld(t, counting(c), func(s *setup) {
			one := s.spec.Aggregates["live"]
			one.By = map[string]string{"id": "{id}"}
			s.spec.Aggregates = map[string]pipeline.AggregateSpec{"refunds": one}
		}).started()
		api := map[aggregate.Counting]string{aggregate.Marks: "UpdateItem", aggregate.Receipts: "TransactWriteItems"}[c]
		w.faults = []fault{{API: api, Always: true, Before: errDenied,
			Applies: func(in any) bool {
				if u, ok := in.(*dynamodb.UpdateItemInput); ok {
					pk := rows.TextOf(u.Key["PK"])
					return strings.HasSuffix(pk, "#3") || strings.HasSuffix(pk, "#4")
				}
				return true
			}}}
		var records []map[string]any
		for i := 1; i <= 5; i++ {
			records = append(records, insert(i, w.image(order(fmt.Sprint(i), 1))))
		}
		want := map[aggregate.Counting]int{aggregate.Marks: 3, aggregate.Receipts: 1}[c]
		w.expect(batch(records...), from(want))
		must.Equal(t, w.counted[0].Unproven, true)
		w.faults = nil
		w.expect(batch(records[want-1:]...), done)
		n := 0
		for total, err := range w.store.Totals(context.Background()) {
			if err != nil || total.N != 1 {
				t.Errorf("%+v %v", total, err)
			}
			n++
		}
		must.Equal(t, n, 5)
	}
}

// If the deadline comes first, there is an answer and not a timeout.
func TestStreamsDeadline(t *testing.T) {
	w := newWorld(t).started()
	ctx, cancel := context.WithCancel(deadline(t))
	w.faults = []fault{{API: "UpdateItem", Always: true, Before: errLost, Applies: func(any) bool { cancel(); return true }}}
	response, err := w.handleStream(ctx, marshal(t, batch(w.inserted(1, "1", 5), w.inserted(2, "2", 5))))
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != sequence(1) {
		t.Errorf("%+v %v", response, err)
	}
	if n := w.calls["UpdateItem"]; n > 3 {
		t.Errorf("%d requests, most of them after the end", n)
	}
}

func TestStreamsReports(t *testing.T) {
	w := newWorld(t).started()
	w.Clock.Set(epoch.Add(90e9))
	e := batch(w.inserted(1, "1", 5), w.inserted(2, "2", 5))
	w.expect(e, done)
	must.Equal(t, w.reported(), "Received 2, Inserted 2, Updates 2")
	first := w.counted[0]
	must.Equal(t, first.Lag, 90*time.Second)
	must.Equal(t, fmt.Sprint(first.Cost.Requests, first.Cost.WriteUnits), "2 2")
	w.expect(e, done)
	// The metric counts items that are new among the records that are not delivered again, and
	// nothing else.
	must.Equal(t, w.reported(), "Received 2, Inserted 2, Dropped 4")
	w.failAt(5)
	w.expect(batch(changed(3, w.image(order("1", 5)), w.image(order("1", 5))), w.inserted(4, "3", 5),
		w.inserted(5, "4", 5)), from(5))
	must.Equal(t, w.reported(), "Received 3, Inserted 1, Updates 2, Unproven")
}

// A batch that writes a total of 300 KB reports it, which raises the metric and the alarm.
func TestStreamsReportLargeTotals(t *testing.T) {
	w := newWorld(t).started()
	w.expect(batch(w.inserted(1, "1", 5)), done)
	total := w.Get(t, "totals", testworld.Key("A#live#2#0", "-"))
	total["attachment"] = rows.Binary(make([]byte, tables.LargeTotal))
	w.Put(t, "totals", total)
	st, err := w.Store(w.plan)
	must.Succeed(t, err)
	w.restart(st) // another process: this one looks at the total again within an hour
	w.expect(batch(w.inserted(2, "2", 5)), done)
	must.Equal(t, fmt.Sprint(w.counted[0].Large, w.counted[1].Large), "0 1")
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	must.Succeed(t, err)
	return text
}
