package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Every request, not only the first, is preceded by the test for Expired. If an answer was lost an
// hour ago, the store asks about it and never repeats the request. If nothing is stored then, the
// request may still arrive, so the event is not Expired.
func TestClockPassesBetweenTries(t *testing.T) {
	for _, n := range []int{1, 10} {
		for name, c := range map[string]struct {
			f    fault
			want event.Verdict
		}{
			"refused":                  {fault{Before: errThrottled}, event.Expired},
			"no answer":                {fault{Before: errLost}, event.Retry},
			"applied, the answer lost": {fault{After: errLost}, event.Duplicate},
		} {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				var w *world
				w = newWorld(t, func(s *setup) {
					s.tables.Env.Sleep = func(context.Context, time.Duration) error { w.Clock.Pass(time.Hour); return nil }
				})
				var items events
				for i := range n {
					items = append(items, w.order(fmt.Sprint(i), 1))
				}
				w.Clock.Set(time.Unix(items[0].ExpiresAt, 0).Add(-tables.ExpiryMargin - 30*time.Minute))
				one, many := c.f, c.f
				one.API, many.API = "PutItem", "BatchExecuteStatement"
				w.faults = []fault{one, many}
				meter := w.meter()
				results, _ := w.arrive(items...)
				for _, r := range results {
					must.Equal(t, r.Verdict, c.want, r.Refusal)
				}
				used := meter().Requests
				if used["PutItem"]+used["BatchExecuteStatement"] != 1 || used["BatchGetItem"] != 1 {
					t.Errorf("%v: one put, and one read instead of another", used)
				}
			})
		}
	}
}

// A revision, and items that are put together, are not Expired either while a try of them may still
// be carried out.
func TestNoAnswerBeforeItIsTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		api  string
		item func(w *world) *event.Item
	}{
		"a revision": {"PutItem", func(w *world) *event.Item { w.keep(w.parcel("p", 1)); return w.parcel("p", 2) }},
		"a whole":    {"TransactWriteItems", func(w *world) *event.Item { return w.account("1", "1@y", 1) }},
	} {
		for _, f := range []fault{{Before: errThrottled}, {Before: errLost}} {
			var w *world
			w = newWorld(t, accounts, func(s *setup) {
				s.tables.Env.Sleep = func(context.Context, time.Duration) error { w.Clock.Pass(time.Hour); return nil }
			})
			item := c.item(w)
			w.Clock.Set(time.Unix(item.ExpiresAt, 0).Add(-tables.ExpiryMargin - 30*time.Minute))
			f.API, f.Applies = c.api, func(in any) bool {
				put, is := in.(*dynamodb.PutItemInput)
				return !is || len(put.ExpressionAttributeValues) > 0
			}
			w.faults = []fault{f}
			want := map[bool]string{true: "Retry", false: "Expired"}[f.Before == errLost]
			if got := verdicts(w.putNow(item)); got != want || len(w.faults) > 0 {
				t.Errorf("%s, after %v: %s, want %s", name, f.Before, got, want)
			}
			must.Equal(t, verdicts(w.putNow(item)), "Expired", name)
		}
	}
}

// An event past its time costs a read, and no write.
func TestCostOfExpired(t *testing.T) {
	w := newWorld(t)
	old := func(id string, pad int) *event.Item {
		return w.item(`"type":"order"`, fmt.Sprintf(`"id":%q`, id), `"merchant":"m"`, `"cents":1`, `"at":"2098-01-01T00:00:00Z"`,
			fmt.Sprintf(`"pad":%q`, strings.Repeat("x", pad)))
	}
	var items events
	for i := range 150 {
		items = append(items, old(fmt.Sprint(i), 10))
	}
	meter := w.meter()
	results, cost := w.arrive(items...)
	used := meter()
	if strings.Count(verdicts(results), "Expired") != 150 || used.Requests["BatchGetItem"] != 2 || used.TotalRequests() != 2 ||
		used.WriteUnits() != 0 || used.ReadUnits() != 150 || cost.ReadUnits != 150 {
		t.Errorf("%v, %v write and %v read units (own accounts %v)", used.Requests, used.WriteUnits(), used.ReadUnits(), cost.ReadUnits)
	}
	// A stored event costs a unit for each started 4 KB.
	big := old("big", 9000)
	w.Clock.Set(big.At)
	w.arrive(big)
	w.Clock.Set(epoch)
	meter = w.meter()
	results, cost = w.arrive(big)
	used = meter()
	if results[0].Verdict != event.Duplicate || used.ReadUnits() != 3 || used.WriteUnits() != 0 {
		t.Errorf("%s: %v read units, own accounts %v", results[0].Verdict, used.ReadUnits(), cost.ReadUnits)
	}
}

// A read that is answered in part proves nothing about the rest. The rest is asked for again, and
// an event is only Expired if its absence was answered.
func TestUnprocessedIsNotAbsent(t *testing.T) {
	w := newWorld(t)
	stored := w.order("1", 1)
	w.arrive(stored)
	w.Clock.Set(time.Unix(stored.ExpiresAt, 0))
	w.faults = []fault{{API: "BatchGetItem", Edit: leaveUnprocessed}}
	results, cost := w.arrive(stored, w.order("2", 1))
	if got := verdicts(results); got != "Duplicate Expired" || cost.Throttles["UnprocessedKeys"] != 2 || w.slept == 0 {
		t.Errorf("%s, %v", got, cost.Throttles)
	}
	for range 100 {
		w.faults = append(w.faults, fault{API: "BatchGetItem", Edit: leaveUnprocessed})
	}
	if results, _ := w.store.Put(context.Background(), events{stored, w.order("2", 1)}); verdicts(results) != "Retry Retry" {
		t.Error(verdicts(results))
	}
}

// parcelOn returns a revision of one parcel, of a day in March.
func (w *world) parcelOn(rev int, day string) *event.Item {
	return w.item(`"type":"parcel"`, `"id":"p"`, fmt.Sprintf(`"rev":%d`, rev), fmt.Sprintf(`"at":"2099-03-%sT00:00:00Z"`, day))
}

// A replacement never makes a key end earlier, and a key that is to stay for ever stays.
func TestReplacementKeepsTheLaterExpiry(t *testing.T) {
	w := newWorld(t)
	first, later := w.parcelOn(1, "20"), w.parcelOn(3, "25")
	for _, step := range []struct {
		item *event.Item
		want event.Verdict
		end  int64
	}{
		{first, event.Inserted, first.ExpiresAt},
		{w.parcelOn(2, "10"), event.Updated, first.ExpiresAt},
		{later, event.Updated, later.ExpiresAt},
		{w.parcelOn(3, "25"), event.Duplicate, later.ExpiresAt},
		{w.parcelOn(2, "10"), event.Stale, later.ExpiresAt},
	} {
		results, _ := w.arrive(step.item)
		if got := show(w.stored("events", first.Key)["expiresAt"]); results[0].Verdict != step.want || got != fmt.Sprint("N ", step.end) {
			t.Errorf("revision %s: %s, expires at %s, want %s and %d", step.item.Revision, results[0].Verdict, got, step.want, step.end)
		}
	}
	forever := w.parcelOn(4, "26")
	forever.ExpiresAt = 0
	w.arrive(forever)
	w.arrive(w.parcelOn(5, "27"))
	if img := w.stored("events", first.Key); show(img["revision"]) != "N 5" || img["expiresAt"] != nil {
		t.Errorf("revision %s expires at %s", show(img["revision"]), show(img["expiresAt"]))
	}
	// An item that is too late to be written, but newer than the stored one, goes to quarantine and
	// is not lost.
	w.Clock.Set(time.Unix(later.ExpiresAt, 0).AddDate(0, 1, 0))
	w.judges("Expired Duplicate Stale", w.parcelOn(9, "01"), w.parcelOn(5, "27"), w.parcelOn(1, "20"))
}

// This test shows what docs/guarantees.md does not promise, and the way out that it names. A
// revision that moves at back leaves the item with the later expiry. The total of its new window
// lives as long only if the total's retain has room for that.
func TestTotalOfARevisionThatMovedBack(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name    string
		retain  time.Duration
		outlive bool
	}{
		{"the least that compiles", 97 * day, false},
		{"as much more as the revision moved", (97 + 60) * day, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) {
				s.Aggregates["parcels"] = pipeline.AggregateSpec{Since: 1, Window: day, Retain: c.retain, OnExpire: "subtract",
					From: map[string]pipeline.FromSpec{"parcel": {Values: map[string]string{"parcels": "count"}}}}
			})
			at := func(rev int, at time.Time) *event.Item {
				return w.item(`"type":"parcel"`, `"id":"p"`, fmt.Sprintf(`"rev":%d`, rev), fmt.Sprintf(`"at":%q`, at.Format(time.RFC3339)))
			}
			first, second := at(1, epoch), at(2, epoch.Add(-60*day))
			for _, item := range []*event.Item{first, second} {
				w.arrive(item)
			}
			if img := w.stored("events", first.Key); show(img["revision"]) != "N 2" ||
				show(img["expiresAt"]) != fmt.Sprint("N ", first.ExpiresAt) {
				t.Fatalf("revision %s expires at %s", show(img["revision"]), show(img["expiresAt"]))
			}
			def, _ := w.plan.Definition("parcels")
			if total := lanes.Expiry(def, lanes.WindowStart(def, second.At)); (total > first.ExpiresAt) != c.outlive {
				t.Errorf("the total ends at %d, the item at %d", total, first.ExpiresAt)
			}
		})
	}
}

// This test shows which older revision docs/guarantees.md does not promise to refuse, and that it
// is the only one. The newest revision keeps others out. One of these that is later by its own time
// can be stored once the newest has expired and is removed.
func TestOlderRevisionAfterTheNewestHasExpired(t *testing.T) {
	for _, c := range []struct {
		name, newest, older string // days of at
		storedFirst         bool   // the older one was stored and then replaced
		want                string
	}{
		{"the older one is later", "10", "20", false, "Inserted"},
		{"the older one is later, and was stored", "10", "20", true, "Expired"}, // the item kept the later end
		{"both at one time", "10", "10", false, "Expired"},
		{"at grows with the revision", "20", "10", false, "Expired"},
	} {
		w := newWorld(t)
		newest, older := w.parcelOn(2, c.newest), w.parcelOn(1, c.older)
		if c.storedFirst {
			w.arrive(older)
		}
		w.arrive(newest)
		w.judges("Stale", older)
		w.Clock.Set(time.Unix(newest.ExpiresAt, 0))
		if c.storedFirst {
			w.Clock.Set(time.Unix(older.ExpiresAt, 0))
		}
		if w.Clock.Pass(time.Minute); w.Engine.SweepExpired() != 1 {
			t.Fatalf("%s: the newest is not swept", c.name)
		}
		w.judges(c.want, older)
	}
}

// Between the read of a stored item and its replacement, a person removes it, and another payload
// of the same revision is stored. The replaced item must be the one that was read. Otherwise the
// other payload would end earlier.
func TestReplacementOfWhatWasRead(t *testing.T) {
	w := newWorld(t)
	read, other, newer := w.parcelOn(1, "10"), w.parcelOn(1, "25"), w.parcelOn(2, "12")
	w.arrive(read)
	w.faults = []fault{{API: "BatchGetItem", Edit: func(any) {
		w.removes(read.Key)
		w.judges("Inserted", other)
	}}}
	results, _ := w.arrive(newer, w.order("1", 1), w.order("2", 1), w.order("3", 1))
	if len(w.faults) > 0 {
		t.Fatal("the store did not read before it replaced")
	}
	must.Equal(t, verdicts(results), "Updated Inserted Inserted Inserted")
	if img := w.stored("events", read.Key); show(img["revision"]) != "N 2" || show(img["expiresAt"]) != fmt.Sprint("N ", other.ExpiresAt) {
		t.Errorf("revision %s expires at %s, want 2 and %d", show(img["revision"]), show(img["expiresAt"]), other.ExpiresAt)
	}
}
