package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

// A refused update takes the place of a flag that says less. So a person who takes that flag off
// meets another one, and does not hide that the total lacks something.
func TestRefusalTakesThePlaceOfAFlag(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		def, _ := w.plan.Definition("by_merchant")
		key := lanes.Key(def, 0, []string{"m"}, aggregate.NoWindow)
		w.write("totals", key, attrs{"largest": textValue("much"), "flag": textValue("it was flagged before")})
		a := w.store.Apply(deadline(t), w.batch(c, 1, w.order("1", 5)), answering(nil))
		flag := rows.TextOf(w.stored("totals", key)["flag"])
		if a.Refused != 1 || !strings.Contains(flag, "an update was refused and is in quarantine") {
			t.Errorf("%d refused, flag %v", a.Refused, flag)
		}
		if is, err := w.repair().Accept(deadline(t), key, "it was flagged before", "jo"); is || err != nil {
			t.Errorf("the earlier flag is accepted: %t, %v", is, err)
		}
	})
}

// The first reason why an event could not be taken back stands, whatever comes later.
func TestFirstFlagOfATotalStands(t *testing.T) {
	eachWay(t, func(t *testing.T, c aggregate.Counting) {
		w := newWorld(t, counting(c))
		first, second := w.order("1", 5), w.order("2", 6)
		w.apply(w.batch(c, 1, first, second))
		remove := func(sequence int64, item *event.Item) {
			w.apply(w.change(sequence, event.Remove, false, item, nil))
		}
		w.Clock.Set(epoch.Add(time.Hour))
		remove(3, first)
		w.Clock.Set(epoch.Add(2 * time.Hour))
		remove(4, second)
		got := w.total("by_merchant", "merchant", "m").Flags
		if len(got) != 1 || !strings.HasPrefix(got[0], epoch.Add(time.Hour).Format(time.RFC3339)) {
			t.Errorf("flags %q, want one of the first removal", got)
		}
	})
}

// One update prunes at most twelve marks, so that its expression stays far below 4 KB. The next
// updates prune the rest.
func TestOneUpdatePrunesTwelveMarks(t *testing.T) {
	w := newWorld(t)
	deliver := func(shard string, sequence int64) {
		w.apply(w.from(aggregate.Marks, shard, sequence, w.order(fmt.Sprint(shard, sequence), 1)))
	}
	for i := range 30 {
		deliver(fmt.Sprint("old-", i), 1)
	}
	w.Clock.Set(epoch.Add(73 * time.Hour))
	for i, want := range []int{31 - 12, 31 - 24, 1} {
		deliver("new", int64(1+i))
		must.Equal(t, w.marks(), want, i+1)
	}
}

// A total whose greatest value is text takes no update. After three failures without an explanation
// the store says so, whether there are old marks or not. The update is then in quarantine, and the
// item is flagged.
func TestTotalThatNeverTakesAnUpdate(t *testing.T) {
	writes := 0
	w := newWorld(t)
	w.onCall = func(_ string, in any) error {
		if u, ok := in.(*dynamodb.UpdateItemInput); ok && strings.HasPrefix(rows.TextOf(u.Key["PK"]), "A#by_merchant") {
			writes++
		}
		return nil
	}
	def, _ := w.plan.Definition("by_merchant")
	key := lanes.Key(def, 0, []string{"m"}, aggregate.NoWindow)
	w.write("totals", key, attrs{"largest": textValue("much")})
	var refused []string
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	a := w.store.Apply(ctx, w.batch(aggregate.Marks, 1, w.order("1", 5)), keeping(&refused))
	if !a.Unproven.IsZero() || a.Refused != 1 || len(refused) != 1 || refused[0] != key.String() {
		t.Errorf("unproven %s (%v), %d refused: %v", a.Unproven, a.Err, a.Refused, refused)
	}
	if flag := w.stored("totals", key)["flag"]; flag == nil {
		t.Error("no flag")
	}
	// The first failure may come from an old mark. Three more explain nothing. Then flag and mark
	// are written.
	if writes != 1+3+1 {
		t.Errorf("%d writes, want 5", writes)
	}
}

// If two functions start on fresh tables, one raises the epoch, and the other finds it raised. The
// epoch never goes back, even if the two pipelines have no aggregate in common.
func TestStartBesideANewerOne(t *testing.T) {
	apart := func(s *pipeline.Spec) {
		added(2, 2)(s)
		s.Aggregates = map[string]pipeline.AggregateSpec{"extra": s.Aggregates["extra"]}
	}
	for name, tt := range map[string]struct {
		newer   func(*pipeline.Spec)
		refused bool // the older one is refused, because it would add to the past
	}{"one more aggregate": {added(2, 2), false}, "other aggregates": {apart, true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.faults = []fault{{API: "TransactWriteItems", Run: func() { w.started(tt.newer) }}}
			if err := w.store.Start(deadline(t)); (err != nil) != tt.refused {
				t.Errorf("the older start: %v", err)
			}
			if w.epoch() != "2" {
				t.Errorf("epoch %s, want 2", w.epoch())
			}
			if newer := w.store.Inside().Heads.Newer(); !tt.refused && (len(newer) != 1 || newer[0].Name != "extra") {
				t.Errorf("newer %v, want extra", newer)
			}
			if def, _ := w.plan.Definition("live"); tt.refused && head(t, w.store, def) != nil {
				t.Error("a start that was refused left a head")
			}
		})
	}
}
