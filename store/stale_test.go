package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
)

// These tests read all tables from replicas that are as far behind as possible, unless the read is
// consistent. See newWorld.

// bare is a service that brings no image with a failed condition, as some emulators do.
func bare(s *setup) {
	next := s.engine.Intercept
	s.engine.Intercept = func(ctx context.Context, api string, in any, call func() (any, error)) (any, error) {
		out, err := next(ctx, api, in, call)
		if failed := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &failed) {
			failed.Item = nil
		}
		if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
			for i := range cancelled.CancellationReasons {
				cancelled.CancellationReasons[i].Item = nil
			}
		}
		return out, err
	}
}

// The item that stopped an update is read consistently. A stale image would not explain the failed
// condition, and the update would be quarantined.
func TestWhatStoodInTheWayIsCurrent(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c), bare)
		first, second, third := w.order("1", 50), w.order("2", 9), w.order("3", 20)
		w.apply(w.batch(c, 1, first, second))
		cold := w.with(same, c) // a cold store does not know the totals
		if a := cold.Apply(deadline(t), w.batch(c, 1, first, second, third), noQuarantine(t)); !a.Unproven.IsZero() {
			t.Fatalf("unproven from %s: %v", a.Unproven, a.Err)
		}
		w.expect("by_merchant", "orders 3, revenue 79, largest 50, least 9")
		w.expect("live", "orders 3, revenue 79")
	})
}

// Every way of reading sees what was stored a moment ago.
func TestReadsSeeWhatWasWritten(t *testing.T) {
	w := newWorld(t)
	s := w.started(same)
	order := w.order("1", 5)
	several := events{order, w.order("2", 6), w.order("3", 7),
		w.order("4", 8)} // put as statements, so the item that holds a key is read
	for _, want := range []string{"Inserted Inserted Inserted Inserted", "Duplicate Duplicate Duplicate Duplicate"} {
		w.judges(want, several...)
	}
	w.counts(1, order)
	items, totals := 0, 0
	for item, err := range s.Items(deadline(t)) {
		if err != nil {
			t.Errorf("%v, %v", item, err)
		}
		items++
	}
	for _, err := range s.Totals(deadline(t)) {
		if err != nil {
			t.Error(err)
		}
		totals++
	}
	if items != 4 || totals != 3 {
		t.Errorf("%d items and %d totals, want 4 and 3", items, totals)
	}
	last := w.order("5", 9)
	w.arrive(last)
	if item, there, _, err := query.Of(s).Find(deadline(t), last.Key); err != nil || !there || item == nil {
		t.Errorf("found %v, %v, %v", there, item, err)
	}
	if other := newWorld(t); other.keepFile(written(1, "first"), false) != nil || other.keepFile(written(2, "second"), false) != nil ||
		other.deployed() != written(2, "second") {
		t.Errorf("deployed is\n%s", other.deployed())
	}
	def, _ := w.plan.Definition("live")
	_, err := s.Inside().Heads.Flag(deadline(t), []*aggregate.Definition{def}, w.Clock.Now(), "a test's")
	must.Succeed(t, err)
	if head, err := s.Head(deadline(t), def); err != nil || head == nil || !strings.Contains(head.Flag, "a test's") {
		t.Errorf("head %+v, %v", head, err)
	}
	if got := w.total("live"); got.Values["orders"].String() != "1" || len(got.Flags) != 1 {
		t.Errorf("total %+v", got)
	}
	if err := w.with(added(2, 2), aggregate.Marks).Start(deadline(t)); err != nil {
		t.Errorf("a start right after another: %v", err)
	}
	if err := w.with(added(1, 1), aggregate.Marks).Start(deadline(t)); err == nil {
		t.Error("a start that adds to the past is not refused right after another")
	}
}

// An item that is removed between the scan and its stamp stays removed: a stamp alone would create
// an item that no event made. One that a newer function has touched meanwhile keeps its stamp.
func TestTouchMeetsAChange(t *testing.T) {
	for api, items := range map[string]int{"UpdateItem": 3, "BatchExecuteStatement": 30} {
		for _, newer := range []bool{false, true} {
			w := newWorld(t)
			var list events
			for i := range items {
				list = append(list, w.order(fmt.Sprint(i), 1))
			}
			w.arrive(list...)
			later, key := w.started(added(2, 2)), list[1].Key
			w.faults = []fault{{API: api, Run: func() {
				img := w.stored("events", key)
				if w.removes(key); newer {
					img["epoch"] = numberValue("9")
					w.put("events", img)
				}
			}}}
			touched, err := repair.Of(later).Touch(deadline(t))
			if err != nil || touched.Scanned != items || touched.Touched != items-1 || len(w.faults) > 0 {
				t.Errorf("%s: %+v, %v", api, touched, err)
			}
			if img := w.stored("events", key); newer && show(img["epoch"]) != "N 9" || !newer && img != nil {
				t.Errorf("%s: %v", api, img)
			}
		}
	}
}

// The windows of a bucket may take more than one page of a Query. A page ends after 1 MB.
func TestTotalOfManyPages(t *testing.T) {
	w := newWorld(t)
	def, _ := w.plan.Definition("daily")
	const days = 12
	for day := range days {
		key := lanes.Key(def, 0, []string{"m"}, epoch.AddDate(0, 0, day).Truncate(def.Window).Unix())
		w.write("totals", key, attrs{"orders": numberValue(fmt.Sprint(day + 1)), "n": numberValue("1"),
			"m:padding": rows.Binary(make([]byte, 300<<10))})
	}
	meter := w.meter()
	totals, err := w.query().Total(context.Background(), "daily", map[string]string{"merchant": "m"}, epoch.AddDate(0, 0, -1),
		epoch.AddDate(0, 0, days))
	if err != nil || len(totals) != days {
		t.Fatalf("%d windows of %d, %v", len(totals), days, err)
	}
	for day, total := range totals {
		must.Equal(t, total.Values["orders"].String(), fmt.Sprint(day+1), day+1)
	}
	if pages := meter().Requests["Query"]; pages < int64(def.Spread)+2 {
		t.Errorf("%d queries of %d buckets: the first bucket took one page", pages, def.Spread)
	}
}
