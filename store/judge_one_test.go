package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// Judge says what Put then does. It changes nothing, and returns what is stored.
func TestJudgeSaysWhatPutDoes(t *testing.T) {
	for name, c := range map[string]struct {
		before  string // is stored
		item    string
		verdict event.Verdict
		stored  bool
	}{
		"a free key":       {"", "order 1 1", event.Inserted, false},
		"a copy":           {"order 1 1", "order 1 1", event.Duplicate, true},
		"another payload":  {"order 1 1", "order 1 2", event.Conflict, true},
		"a newer revision": {"parcel 1 1", "parcel 1 2", event.Updated, true},
		"an older one":     {"parcel 1 2", "parcel 1 1", event.Stale, true},
		"an erased event":  {"order 1 1", "order 1 2", event.Duplicate, false},
		"too late":         {"", "order 1 1", event.Expired, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.keep(w.events(c.before)...)
			item := w.events(c.item)[0]
			switch name {
			case "an erased event":
				must.Succeed(t, errorOf(w.erase(item.Key)))
			case "too late":
				item.ExpiresAt = time.Now().Add(-time.Hour).Unix()
			}
			was := w.lies(item.Key)
			judged, stored, err := w.repair().Judge(deadline(t), item)
			if err != nil || judged.Verdict != c.verdict || (stored != nil) != c.stored {
				t.Fatalf("%v %+v, stored %v; want %v", err, judged, stored, c.verdict)
			}
			must.Equal(t, w.lies(item.Key), was)
			if stored != nil && stored.Data == "" {
				t.Error("the stored event has no payload")
			}
			put, _ := w.arrive(item)
			if put[0].Verdict != judged.Verdict || (put[0].Refusal == nil) != (judged.Refusal == nil) {
				t.Errorf("Put says %+v, Judge said %+v", put[0], judged)
			}
			if put[0].Refusal != nil && *put[0].Refusal != *judged.Refusal {
				t.Errorf("Put says %+v, Judge said %+v", put[0].Refusal, judged.Refusal)
			}
		})
	}
	w := newWorld(t)
	closed, err := store.New(tables.Config{Client: w.Engine.DynamoDB(), Pipeline: w.plan, Aggregates: "totals"})
	must.Succeed(t, err)
	if _, _, err := repair.Of(closed).Judge(deadline(t), w.order("1", 1)); err == nil {
		t.Error("it judges without a table")
	}
}

// Judge says that a floor would refuse an event, as Put does, and writes nothing. What is stored
// already is a Duplicate, whatever a floor says.
func TestJudgeAsksFloors(t *testing.T) {
	w := newWorld(t, stocked)
	judge := func(item *event.Item) tables.Result {
		t.Helper()
		r, _, err := w.repair().Judge(deadline(t), item)
		must.Succeed(t, err)
		return r
	}
	if r := judge(w.goods("reserved", "0", "a", 1)); r.Verdict != event.Retry ||
		!strings.Contains(r.Refusal.Detail, "no function has started with it yet") {
		t.Errorf("before the start: %+v", r)
	}
	w.start()
	w.puts("received 1 a 5, transfer 1 x y 60")
	meter := w.meter()
	for name, c := range map[string]struct {
		item string
		want event.Verdict
	}{
		"enough":                    {"reserved 1 a 5", event.Inserted},
		"too much":                  {"reserved 2 a 6", event.Rejected},
		"there is no total":         {"reserved 3 b 1", event.Rejected},
		"it gives":                  {"received 4 b 1", event.Inserted},
		"stored already":            {"transfer 1 x y 60", event.Duplicate},
		"another payload":           {"transfer 1 x y 61", event.Conflict},
		"both sides count together": {"transfer 2 x z 900", event.Inserted},
	} {
		if r := judge(w.events(c.item)[0]); r.Verdict != c.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
	must.Equal(t, meter().WriteUnits(), 0)
	for _, item := range w.events("reserved 1 a 5, reserved 2 a 6, reserved 3 b 1, transfer 2 x z 900") {
		judged := judge(item)
		put := w.putNow(item)[0]
		if put.Verdict != judged.Verdict || (put.Refusal == nil) != (judged.Refusal == nil) || put.Refusal != nil &&
			*put.Refusal != *judged.Refusal {
			t.Errorf("%s: Put says %+v %+v, Judge said %+v %+v", item.Key, put, put.Refusal, judged, judged.Refusal)
		}
	}
	apart := newWorld(t, stocked, func(s *setup) {
		ofType("transfer", func(e *pipeline.EventSpec) { e.Atomic = false })(&s.Spec)
		delete(s.Events, "slip")
		adds(&s.Spec, `
aggregates:
  balances:
    {since: 1, by: {account: "{from}"}, movedBy: put, atLeast: {balance: 0},
     from: {debit: {values: {balance: sum -amount}}}}
`)
	})
	apart.start()
	item := apart.transfer("1", "x", "y", 60)
	judged, _, err := repair.Of(apart.store).Judge(deadline(t), item)
	if put := apart.putNow(item)[0]; err != nil || judged.Verdict != event.Rejected || put.Verdict != event.Rejected ||
		*judged.Refusal != *put.Refusal {
		t.Errorf("a part by itself: %v, Put says %+v, Judge said %+v", err, put, judged)
	}
}
