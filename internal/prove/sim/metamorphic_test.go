package sim

import (
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	long "github.com/ingot-events/ingot/internal/kit/slow"
)

// TestMetamorphic delivers the same events in many ways. The tables must not show which way it was.
func TestMetamorphic(t *testing.T) {
	const variants = 10
	tried := dimensions{}
	for set := range 1 + fewer(4) {
		events := NewEvents(set, 40, 8)
		drained, expired, failure := events.Deliver(Plain(set))
		if failure != nil {
			t.Fatalf("events %d, plain: %v", set, failure)
		}
		if len(drained.Items) != 48 || len(drained.Totals) < 4 {
			t.Fatalf("events %d: %d items, %d totals", set, len(drained.Items), len(drained.Totals))
		}
		if len(expired.Items) != 0 || len(expired.Totals) == 0 {
			t.Fatalf("events %d: after expiry %d items, %d totals", set, len(expired.Items), len(expired.Totals))
		}
		seen := Plan{}
		for v := range fewer(variants) {
			p := Variant(set*1000 + v)
			tried.add(p)
			d, e, failure := events.Deliver(p)
			if failure != nil {
				t.Errorf("events %d, variant %d: %v\n%+v", set, v, failure, p)
				continue
			}
			if why := drained.Difference(d); why != "" {
				t.Errorf("events %d, variant %d, drained: %s\n%+v", set, v, why, p)
			}
			if why := expired.Difference(e); why != "" {
				t.Errorf("events %d, variant %d, expired: %s\n%+v", set, v, why, p)
			}
			if p == seen {
				t.Errorf("variant %d is the one before it", v)
			}
			seen = p
		}
	}
	if long.All() {
		tried.check(t)
	}
}

// TestStatementsAndUpdateItems delivers the same events twice from one seed, with its trouble. The
// first time, UpdateItems write all totals. The second time, statements write them wherever a batch
// touches more than one. The tables must not show which way it was.
func TestStatementsAndUpdateItems(t *testing.T) {
	for set := range 1 + fewer(20) {
		events := NewEvents(set, 40, 8)
		p := Variant(set)
		p.Counting, p.StreamBatch, p.OneByOne = aggregate.Marks, 20, -1
		drained, expired, failure := events.Deliver(p)
		if failure != nil {
			t.Fatalf("events %d, one by one: %v\n%+v", set, failure, p)
		}
		p.OneByOne = 1
		d, e, failure := events.Deliver(p)
		if failure != nil {
			t.Fatalf("events %d, statements: %v\n%+v", set, failure, p)
		}
		if why := drained.Difference(d); why != "" {
			t.Errorf("events %d, drained: %s\n%+v", set, why, p)
		}
		if why := expired.Difference(e); why != "" {
			t.Errorf("events %d, expired: %s\n%+v", set, why, p)
		}
	}
}

// dimensions holds the ways in which deliveries of the same events differ, and the values that each
// has taken.
type dimensions map[string]map[any]bool

func (d dimensions) add(p Plan) {
	for name, value := range map[string]any{
		"counting": p.Counting, "spread": p.Spread, "FIFO": p.FIFO, "window": p.Window, "bursts": p.Phases, "bisecting": p.Bisect,
		"batch of the queue": p.IngestBatch, "batch of the stream": p.StreamBatch, "queue mappings": p.Ingests, "duplicates": p.Duplicates,
		"order":             p.Seed,
		"totals one by one": p.OneByOne, "a second poller": p.Faults.Second > 0, "shard splits": p.Faults.Split > 0,
	} {
		if d[name] == nil {
			d[name] = map[any]bool{}
		}
		d[name][value] = true
	}
}

func (d dimensions) check(t *testing.T) {
	for name, values := range d {
		if len(values) < 2 {
			t.Errorf("every delivery had the same %s: %v", name, values)
		}
	}
}

// TestOutcomeTellsEventsApart shows that the comparison finds a difference between other events. If
// it did not, it would prove nothing.
func TestOutcomeTellsEventsApart(t *testing.T) {
	events := NewEvents(7, 20, 4)
	all, _, failure := events.Deliver(Plain(7))
	fewer := Events{events.messages[1:]}
	some, _, failure2 := fewer.Deliver(Plain(7))
	if failure != nil || failure2 != nil {
		t.Fatal(failure, failure2)
	}
	if all.Difference(some) == "" {
		t.Error("an event more makes no difference")
	}
	same := Outcome{Items: all.Items, Totals: some.Totals}
	if all.Difference(same) == "" {
		t.Error("other totals make no difference")
	}
}
