package handler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// oddity changes a record, or its image.
type oddity = func(r map[string]any, img attributes)

// set gives the image an attribute of one type, without takes one from it, and named gives the
// record's event a name.
func set(name, kind string, value any) oddity {
	return func(_ map[string]any, img attributes) { img[name] = map[string]any{kind: value} }
}

func without(name string) oddity { return func(_ map[string]any, img attributes) { delete(img, name) } }

func named(event any) oddity { return func(r map[string]any, _ attributes) { r["eventName"] = event } }

// oddities are changes to a record that make it impossible to understand.
var oddities = map[string]oddity{
	"unknown attribute type": set("odd", "Z", 1),
	"two types":              func(_ map[string]any, img attributes) { img["odd"] = map[string]any{"S": "a", "N": "1"} },
	"attribute no object":    func(r map[string]any, img attributes) { img["odd"] = nil },
	"no digest":              without("digest"),
	"digest not base64":      set("digest", "B", "***"),
	"twice as long in a letter": func(_ map[string]any, img attributes) {
		img["note"] = map[string]any{"S": strings.Repeat("\ufffe", 200_000)} // SQS takes it only if it is escaped
		delete(img, "digest")
	},
	"stamp of no pipeline": set("epoch", "N", "1000000001"),
	"stamp below nothing":  set("epoch", "N", "-5"),
	"stamp with a part":    set("epoch", "N", "1.5"),
	"stamp as text":        set("epoch", "S", "3"),
	"no data":              without("data"),
	"time unreadable":      set("at", "S", "yesterday"),
	"unknown event name":   named("UPSERT"),
	"no images":            func(r map[string]any, _ attributes) { delete(r["dynamodb"].(map[string]any), "NewImage") },
	"name of wrong type":   named(7),
	"no stream":            func(r map[string]any, _ attributes) { delete(r, "eventSourceARN") },
	"no creation time": func(r map[string]any, _ attributes) {
		delete(r["dynamodb"].(map[string]any), "ApproximateCreationDateTime")
	},
	"creation time beyond reason": func(r map[string]any, _ attributes) {
		r["dynamodb"].(map[string]any)["ApproximateCreationDateTime"] = 1e300
	},
}

// A record that cannot be understood goes to quarantine and flags every head. The batch goes on.
func TestOddRecords(t *testing.T) {
	for _, c := range bothWays {
		for name, alter := range oddities {
			t.Run(c.String()+" "+name, func(t *testing.T) {
				w := newWorld(t, counting(c)).started()
				odd := w.inserted(2, "2", 50)
				alter(odd, odd["dynamodb"].(map[string]any)["NewImage"].(attributes))
				e := batch(w.inserted(1, "1", 5), odd, w.inserted(3, "3", 7))
				w.expect(e, done)
				w.sums(t, "totals", "2", "12")
				says := []string{`"reason":"undecodable-record"`, streamARN}
				if name == "no stream" || name == "name of wrong type" {
					says = says[:1]
				}
				w.kept(says...)
				for _, name := range []string{"totals", "live"} {
					if w.head(name).Flag == "" || len(w.total(name).Flags) == 0 {
						t.Errorf("%s is not flagged", name)
					}
				}
				must.Equal(t, w.reported(), "Received 3, Inserted 2, Quarantined 1, Updates 2")
				// When it is delivered again, it is quarantined again, and nothing is counted
				// again.
				w.expect(e, done)
				w.sums(t, "totals", "2", "12")
			})
		}
	}
}

// Odd records come in batch after batch, through several functions. Not every batch writes the
// heads: each head is written once, whatever the number of functions, and only the first function
// looks at it for that.
func TestOddRecordsFlagOnce(t *testing.T) {
	for w, c := range bothWorlds(t) {
		writes, reads := map[string]int{}, 0
		w.seen = func(api string, input any) {
			switch in := input.(type) {
			case *dynamodb.UpdateItemInput:
				if pk := rows.TextOf(in.Key["PK"]); strings.HasPrefix(pk, "G#") {
					writes[pk]++
				}
			case *dynamodb.GetItemInput:
				if strings.HasPrefix(rows.TextOf(in.Key["PK"]), "G#") {
					reads++
				}
			}
		}
		const functions, batches = 3, 20
		for f := range functions {
			w.anotherFunction(c)
			for n := range batches {
				odd := insert(1+2*n, w.image(order(fmt.Sprint("odd", f, n), 50)).with("digest", "S", "odd"))
				uncounted := insert(2+2*n, w.image(order(fmt.Sprint("uncounted", f, n), 50)).with("data", "S",
					`{"type":"order","id":"1","cents":"many"}`))
				w.expect(batch(odd, uncounted), done)
			}
		}
		must.Equal(t, len(writes), len(w.plan.Definitions()))
		for pk, n := range writes {
			must.Equal(t, n, 1, pk, functions*batches)
		}
		must.Equal(t, reads, len(w.plan.Definitions())) // the second function and the third learn it as they start
		for _, def := range w.plan.Definitions() {
			if w.head(def.Name).Flag == "" {
				t.Errorf("%s is not flagged", def)
			}
		}
	}
}

// anotherFunction replaces the function. The new one knows what it learns as it starts.
func (w *world) anotherFunction(c aggregate.Counting) {
	w.t.Helper()
	st, err := store.New(tables.Config{Client: w.Engine.DynamoDB(), Pipeline: w.plan, Events: "events", Aggregates: "totals", Counting: c,
		Env: w.Env})
	must.Succeed(w.t, err)
	w.store = st
	w.restart(st)
}

// If quarantine takes nothing, the shard waits at the odd record. What came before the record is
// counted.
func TestOddRecordNotQuarantined(t *testing.T) {
	w := newWorld(t).started()
	odd := insert(2, w.image(order("2", 5)).with("odd", "Z", 1))
	e := batch(w.inserted(1, "1", 5), odd, w.inserted(3, "3", 7))
	for name, q := range map[string]quarantine.Queue{"none": nil, "refusing": &refusing{}} {
		w.streams.Quarantine = q
		t.Log(name)
		w.expect(e, from(2))
	}
	w.sums(t, "totals", "2", "12")
	must.Equal(t, w.head("totals").Flag, "")
	// A record without a number cannot be named. Then the whole batch comes back.
	delete(odd["dynamodb"].(map[string]any), "SequenceNumber")
	w.fails(e, "")
	// If flags cannot be written, that holds the batch too.
	w.streams.Quarantine = w.ingest.Quarantine
	odd["dynamodb"].(map[string]any)["SequenceNumber"] = sequence(2)
	w.refuseHeads()
	w.expect(e, from(2))
}

// If a newer definition cannot be computed from an item, the item adds nothing to it, and the
// definition's head says so.
func TestDefinitionCannotCompute(t *testing.T) {
	w := newWorld(t).started()
	img := w.image(order("1", 5)).with("data", "S", `{"type":"order","id":"1","cents":"five"}`)
	w.expect(batch(insert(1, img), w.inserted(2, "2", 7)), done)
	w.sums(t, "totals", "1", "7")
	must.Say(t, w.head("totals").Flag, "ORDER#1")
	must.Equal(t, len(w.quarantined()), 0)
}

// An update that the table will never take is kept and flagged, and the batch goes on (I7).
func TestRefusedUpdateGoesOn(t *testing.T) {
	for _, c := range bothWays {
		for _, attribute := range []string{"revenue", "largest"} {
			t.Run(fmt.Sprint(c, " text in ", attribute), func(t *testing.T) {
				w := newWorld(t, counting(c)).started()
				w.Alter(t, "totals", testworld.Key("A#totals#1#0", "-"), "SET #n = :v", rows.Text("x"), attribute)
				w.expect(batch(w.inserted(1, "1", 5)), done)
				w.kept(`"reason":"refused-update"`, sequence(1))
				must.Equal(t, len(w.total("totals").Flags), 1)
				w.sums(t, "live", "1", "5")
			})
		}
	}
}

// If a mark is not a mark, nothing can be proven about its total any more. Under the mark's
// condition, not even a flag can be written. The head carries the flag, and the shard goes on.
func TestMarkOfAForeignType(t *testing.T) {
	w := newWorld(t).started()
	mark := lanes.LaneIDOf(event.Lane{StreamARN: streamARN, ShardID: "shardId-1"}).MarkAttribute()
	w.Alter(t, "totals", testworld.Key("A#totals#1#0", "-"), "SET #n = :v", rows.Text("x"), mark)
	for range 2 { // redelivered, it is kept once more
		w.expect(batch(w.inserted(1, "1", 5)), done)
		w.kept("A#totals#1#0")
	}
	must.Say(t, w.head("totals").Flag, "A#totals#1#0")
	w.sums(t, "live", "1", "5")
	if calls := w.calls["UpdateItem"]; calls > 30 {
		t.Errorf("%d updates", calls)
	}
}
