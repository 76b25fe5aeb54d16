package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// What Settled says of items is what putting them one after another says, and it finds all that is
// stored. Where it says nothing, the put writes something, or a newer revision may come before.
func TestSettledAgainstPuts(t *testing.T) {
	for _, seed := range replay.Seeds(t, 1, 300) {
		r := rand.New(rand.NewPCG(seed, 1))
		wholes, whole := carts, func(w *world, id string) *event.Item { return w.cart(id, []int{1, 2, 3}[:r.IntN(4)]...) }
		if seed%2 == 1 { // atomic ones, which claim values
			wholes, whole = accounts, func(w *world, id string) *event.Item { return w.account(id, fmt.Sprint(r.IntN(6)), r.IntN(3)) }
		}
		moved := func(s *setup) {
			if order := s.Events["order"]; seed%3 == 0 {
				order.Migrated = "old"
				s.Events["order"] = order
			}
		}
		w := newWorld(t, wholes, moved)
		if r.IntN(2) == 0 {
			turned := rows.KeyImage(rows.ControlKey("old"))
			turned["state:order"] = rows.Text(rows.New)
			w.put("totals", turned)
		}
		var list events
		for range 1 + r.IntN(12) {
			switch id := fmt.Sprint(r.IntN(8)); r.IntN(3) {
			case 0:
				list = append(list, w.order(id, 1+r.IntN(8)/7))
			case 1:
				list = append(list, whole(w, id))
			default:
				list = append(list, w.parcel(id, 1+r.IntN(2)))
			}
		}
		ctx := deadline(t)
		for i, item := range list {
			if i < r.IntN(len(list)+1) || r.IntN(3) == 0 {
				w.store.Put(ctx, events{item})
			}
		}
		for _, item := range list {
			switch {
			case r.IntN(12) == 0:
				if _, err := w.repair().EraseWith(ctx, item.Key, nil, true); err != nil { // a part may have been removed by hand
					t.Fatal(err)
				}
			case item.Parts != nil && len(item.Parts.Items) > 0 && r.IntN(6) == 0:
				key := item.Parts.Items[r.IntN(len(item.Parts.Items))].Key
				w.removes(key)
			}
		}
		got, cost := w.store.Inside().Puts.Settled(context.Background(), list)
		if cost.WriteUnits != 0 || cost.Requests > 2+len(list) || len(got) != len(list) {
			t.Errorf("%d results took %d requests and %v write units", len(got), cost.Requests, cost.WriteUnits)
		}
		for i, item := range list {
			results, cost := w.store.Put(ctx, events{item})
			put := results[0]
			said, wrote := got[i], put.Verdict.Written() || inserted(put)
			same := said.Verdict == put.Verdict || said.Verdict == event.Duplicate && put.Verdict == event.Stale
			switch {
			case said.Verdict == 0 && put.Verdict.Stored() && !wrote && !putBefore(list[:i], item),
				said.Verdict == 0 && put.Refusal != nil && put.Refusal.Reason == event.NotTurned:
				t.Fatalf("%s\nnothing is said of item %d, and its put says %v", replay.Command(t, seed), i, put.Verdict)
			case said.Verdict == 0:
			case !same || wrote || len(said.Parts) != len(put.Parts) || cost.Objects > 0:
				t.Fatalf("%s\nitem %d is said to be %v, and its put says %v", replay.Command(t, seed), i, said, put)
			}
		}
	}
}

// putBefore reports whether an earlier item of the list has the key of this one, or of one of its
// parts.
func putBefore(list events, item *event.Item) bool {
	return slices.ContainsFunc(list, func(other *event.Item) bool { return other.Key.PK == item.Key.PK })
}

// inserted reports whether a put wrote a part.
func inserted(r tables.Result) bool {
	for _, p := range r.Parts {
		if p.Verdict == event.Inserted {
			return true
		}
	}
	return false
}

// An event that was erased may have left a payload in the bucket, from a delivery that stopped. Its
// put deletes that, so nothing is said before. What is refused is said, with its reason.
func TestSettledLeavesToThePut(t *testing.T) {
	w := newWorld(t, posts)
	ctx := deadline(t)
	kept, erased, cut := w.post("post", "1"), w.post("post", "2"), w.thread("thread", "3")
	other, late := w.post("post", "1", `"n":1`), w.item(`"type":"post"`, `"id":"4"`, `"pages":7`, `"at":"2098-03-01T10:00:00Z"`)
	old, dead := w.order("5", 1), w.order("6", 1)
	w.keep(kept, cut, old)
	for _, key := range []event.Key{erased.Key, cut.Parts.Items[1].Key, dead.Key} {
		_, err := w.repair().Erase(ctx, key)
		must.Succeed(t, err)
	}
	list := events{kept, erased, cut, other, late, late, old, dead, w.order("5", 2), w.order("7", 1)}
	got, _ := w.store.Inside().Puts.Settled(ctx, list)
	if v := verdicts(got); v != "Duplicate None None Conflict None None Duplicate Duplicate Conflict None" {
		t.Errorf("%s: %v", v, got)
	}
	if r := got[8].Refusal; r == nil || r.Reason != event.DigestDiffers || r.Key != old.Key || got[8].Existing == nil {
		t.Errorf("%v", got[8])
	}
	got, _ = w.store.Inside().Puts.Settled(ctx, events{late})
	if got[0].Verdict != event.Expired || got[0].Refusal.Reason != event.PastExpiry {
		t.Errorf("%v", got)
	}
	w.Clock.Set(kept.At.AddDate(0, 0, -31)) // a put would refuse it as too far ahead
	if got, _ = w.store.Inside().Puts.Settled(ctx, events{kept}); got[0].Verdict != 0 {
		t.Errorf("%v", got)
	}
}
