package chain

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

func (w *world) lives() {
	orders := 2 + w.Rng.IntN(5)
	if w.Chance(0.3) && !w.still { // the target refuses one key, sometimes for longer than the publisher is patient
		key := event.Key{PK: "ORDER#o0", SK: "ORDER"}
		w.blocked, w.until = key.Hash(), w.Now.Add([]time.Duration{2 * time.Hour, 14 * time.Hour}[w.Rng.IntN(2)])
	}
	for n := range orders {
		w.People(func() { w.change(fmt.Sprint("o", n)) })
	}
	for n := range 1 + w.Rng.IntN(12) {
		w.People(func() { w.visit(fmt.Sprint("v", n)) })
	}
	if w.Chance(0.5) {
		w.People(func() { w.SleepUpTo(900); w.again() })
	}
	w.run(func() bool { return w.Working == 0 })
	if !w.until.IsZero() {
		w.idle = true
		w.run(func() bool { return w.Now.After(w.until) })
		w.idle = false
	}
	if w.rest(); w.Failure == nil && (len(w.letters) > 0 || w.Chance(0.3)) {
		w.People(w.again) // what was given up is in the table
		w.rest()
	}
	if w.Failure == nil {
		w.check()
	}
	if w.Failure == nil {
		w.quiet()
	}
}

// put stores an event at the first Ingot, until that is proven.
func (w *world) put(body string) {
	item, err := w.pipelines[0].Plan(envelope.Message{Body: body})
	if w.Must(err); err != nil {
		return
	}
	for range 50 {
		ctx := w.Within(time.Minute)
		result, _ := w.store(0).Put(ctx, []*event.Item{item})
		if result[0].Verdict.Stored() || result[0].Verdict == event.Duplicate || result[0].Verdict == event.Stale {
			return
		}
		w.Sleep(5 * time.Second)
	}
	w.Fail(stage.Stuck, "an event of the first is never stored")
}

// change stores versions of an order one after the other. In the end, a person may remove it.
func (w *world) change(id string) {
	for version := 1; version <= 1+w.Rng.IntN(6); version++ {
		w.SleepUpTo(240)
		spent := w.Rng.IntN(3) // often the same again, under another version
		w.put(fmt.Sprintf(`{"type":"order","order":"%s","at":"%s","version":%d,"spent":%d}`, id, stage.Origin.Format(time.RFC3339), version,
			spent))
		w.orders[id] = order{version, spent}
		w.costs[id] = append(w.costs[id], spent)
	}
	if !w.Chance(0.3) {
		return
	}
	w.SleepUpTo(600)
	_, err := w.ingots[0].Engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: table(stack.Events),
		Key: map[string]types.AttributeValue{"PK": s("ORDER#" + id), "SK": s("ORDER")}})
	w.Must(err)
	w.removed["ORDER#"+id] = true
}

// visit stores an event that has no version, more than once.
func (w *world) visit(id string) {
	for range 1 + w.Rng.IntN(2) {
		w.SleepUpTo(900)
		w.put(fmt.Sprintf(`{"type":"visit","visit":"%s","at":"%s"}`, id, stage.Origin.Format(time.RFC3339)))
	}
	w.visits[id] = true
}

// again publishes everything that the first stores, as an operator does.
func (w *world) again() {
	for range 100 { // each message that is refused stays so for some time
		ctx := w.Within(time.Hour)
		if _, _, err := w.publisher().Again(ctx, time.Time{}, nil, w.letters); err == nil {
			return
		}
		w.Sleep(time.Minute)
	}
	if !w.Now.Before(w.until) {
		w.Fail(stage.Stuck, "nothing can be published again")
	}
}

// check compares the second Ingot with what was stored at the first.
func (w *world) check() {
	held, visits, count := map[string]order{}, map[string]bool{}, 0
	for _, img := range w.all(1) {
		doc, err := event.ParseDocument(text(img["data"]))
		w.Must(err)
		of := doc.Root()
		if text(img["type"]) == "visit" {
			id := of.Member("visit").Text()
			if visits[id] || !w.visits[id] {
				w.Fail(Doubled, "the second has visit %s twice, or the first never stored it", id)
			}
			visits[id] = true
			continue
		}
		var o order
		fmt.Sscan(of.Member("version").Text(), &o.version)
		fmt.Sscan(of.Member("spent").Text(), &o.spent)
		held[of.Member("order").Text()] = o
		count++
	}
	stored := map[string]bool{} // keys
	for _, img := range w.all(0) {
		stored[text(img["PK"])] = true
	}
	for id, want := range w.orders {
		// Of a key that was given up, nobody publishes again what a person has removed.
		if got := held[id]; got != want && !(len(w.letters) > 0 && w.removed["ORDER#"+id]) {
			w.Fail(Unsent, "the second has %+v as order %s, and the first stored %+v", got, id, want)
		}
		// Nor is the removal of an order told that a late request has stored again meanwhile.
		key := "ORDER#" + id
		if w.removed[key] != w.told[key] && !(len(w.letters) > 0 && stored[key]) {
			w.Fail(Untold, "%s was removed: %t, and that is published: %t", key, w.removed[key], w.told[key])
		}
	}
	for id, costs := range w.costs {
		for n, spent := range costs {
			if (n == 0 || spent != costs[n-1]) && !w.heard[id][n+1] && len(w.letters) == 0 {
				w.Fail(Unsent, "costs was not told version %d of order %s, of %v", n+1, id, costs)
			}
		}
	}
	for id := range w.visits {
		if !visits[id] {
			w.Fail(Unsent, "the second has no visit %s", id)
		}
	}
	st, err := store.New(tables.Config{Client: w.ingots[1].Engine.DynamoDB(), Pipeline: w.pipelines[1], Events: stack.Events,
		Aggregates: stack.Aggregates})
	w.Must(err)
	report, err := verify.Totals(context.Background(), w.pipelines[1], st, w.Now)
	if w.Must(err); err == nil && (len(report.Differences) > 0 || report.Items != count+len(visits)) {
		w.Fail(Wrong, "%d items, want %d: %v", report.Items, count+len(visits), report.Differences)
	}
}

// quiet touches every item of the first, as a rebuild does, and lets visits expire. Nothing of that
// is published.
func (w *world) quiet() {
	before := w.sent
	var err error
	w.pipelines[0], err = load(fmt.Sprintf(first, 2))
	w.Must(err)
	w.People(func() {
		h, err := handler.NewStreams(w.config(0))
		w.Must(err)
		w.Must(h.Start(context.Background())) // a touch asks for the epoch that runs
		_, err = repair.Of(w.store(0)).Touch(context.Background())
		w.Must(err)
		w.idle = true
		w.Sleep(49 * time.Hour)
		w.idle = false
		w.ingots[0].Engine.SweepExpired()
		w.Sleep(time.Minute)
	})
	if w.rest(); w.Failure == nil && w.sent != before {
		w.Fail(Noise, "%d messages say that something was touched or has expired", w.sent-before)
	}
}

func (w *world) all(i int) (items []map[string]types.AttributeValue) {
	out, err := w.ingots[i].Engine.DynamoDB().Scan(context.Background(), &dynamodb.ScanInput{TableName: table(stack.Events)})
	if w.Must(err); err != nil {
		return nil
	}
	for _, img := range out.Items {
		if text(img["type"]) != "" {
			items = append(items, img)
		}
	}
	return items
}

func table(name string) *string { return &name }

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}
