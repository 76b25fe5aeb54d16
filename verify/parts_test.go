package verify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// withLines makes lines parts of orders.
func withLines(s pipeline.Spec) pipeline.Spec {
	s.Events["line"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "order", Each: "lines", With: []string{"id"}}, ID: "{id}#{n}",
		Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "LINE#{n}"}}
	s.Aggregates["lines"] = pipeline.AggregateSpec{Since: s.Epoch,
		From: map[string]pipeline.FromSpec{"line": {Values: map[string]string{"pieces": "sum pieces"}}}}
	return s
}

// putLines stores an order with lines, as JSON, with one version of the file.
func (w *world) putLines(p *pipeline.Pipeline, s *store.Store, id, lines string) *event.Item {
	w.t.Helper()
	return w.inserted(p, s, fmt.Sprintf(`{"type":"order","id":%q,"merchant":"m","cents":1,"at":%q,"lines":%s}`, id,
		w.Clock.Now().Add(-time.Hour).Format(time.RFC3339), lines))
}

// A part outlives its whole if a person removes the whole, or replaces it by one without that part.
// It is still counted, so verify names it.
func TestOrphanedParts(t *testing.T) {
	w := newWorld(t)
	spec := orders()
	spec.Epoch++
	w.deploy(withLines(spec))
	put := func(id, lines string) *event.Item { return w.putLines(w.plan, w.store, id, lines) }
	remove := func(item *event.Item) { w.remove(stack.Events, itemKey(item.Key)) }
	const lines = `[{"n":1,"pieces":2},{"n":2,"pieces":3}]`
	put("whole", lines)
	remove(put("gone", lines))
	remove(put("fewer", lines))
	put("fewer", `[{"n":2,"pieces":3}]`)
	_, err := repair.Of(w.store).Erase(t.Context(), put("erased", lines).Key)
	must.Succeed(t, err)
	w.drain()
	r := w.verify()
	var named []string
	for _, text := range r.Unreadable {
		key, _, _ := strings.Cut(strings.TrimPrefix(text, `item "`), `" is a part of an event that is not stored or does not have it`)
		named = append(named, key)
	}
	want := []string{"ORDER#fewer / LINE#1", "ORDER#gone / LINE#1", "ORDER#gone / LINE#2"}
	if slices.Sort(named); !slices.Equal(named, want) || r.MissingParts != 0 || len(r.Differences) != 0 {
		t.Errorf("%q, want %q; %d missing, %v", named, want, r.MissingParts, r.Differences)
	}
}

// While a deployment rolls on, an older function stores wholes alone. Verify counts the parts that
// are missing, and a pass puts them, so that the stream counts them as it counts any item.
func TestMissingParts(t *testing.T) {
	w := newWorld(t)
	older, olderStore := w.plan, w.store
	spec := orders()
	spec.Epoch++
	w.deploy(withLines(spec))
	ctx := context.Background()
	w.putLines(older, olderStore, "alone", `[{"n":1,"pieces":2},{"n":2,"pieces":3}]`)
	w.putLines(older, olderStore, "none", `[]`)
	w.putLines(w.plan, w.store, "whole", `[{"n":1,"pieces":10}]`)
	w.putLines(older, olderStore, "odd", `"no lines"`) // stored before lines were declared
	w.drain()
	if r := w.verify(); r.MissingParts != 2 || len(r.Differences) != 0 || r.OK() {
		t.Errorf("%d parts are missing, differences %v", r.MissingParts, r.Differences)
	}
	for _, want := range []int{2, 0} {
		done, err := repair.Of(w.store).PutParts(ctx)
		if err != nil || done.Missing != want || done.Put != want || done.Wholes != 4 {
			t.Errorf("%+v %v, want %d put", done, err, want)
		}
		w.drain()
	}
	if r := w.verify(); r.MissingParts != 0 || !r.OK() || r.Items != 4+3 {
		t.Errorf("%+v", r)
	}
	def := w.definition("lines")
	totals, err := query.Of(w.store).Total(ctx, def.Name, nil, time.Time{}, time.Time{})
	if err != nil || len(totals) != 1 || totals[0].Values["pieces"].String() != "15" {
		t.Errorf("%+v %v", totals, err)
	}
	// Another file cannot make the parts of what is stored with parts: nobody can tell whether they
	// are there.
	other := withLines(orders())
	line := other.Events["line"]
	line.ID, line.Key.SK = "{id}#{number}", "LINE#{number}"
	other.Events["line"], other.Epoch = line, 2
	plan, otherStore := w.open(other)
	if r, err := verify.Totals(ctx, plan, otherStore, w.Clock.Now()); err != nil || r.MissingParts != 0 || len(r.Unreadable) != 1 ||
		!strings.Contains(r.Unreadable[0], `item "ORDER#whole / ORDER": its i:parts is 1, but this pipeline.yaml cannot make its parts`) {
		t.Errorf("%+v %v", r, err)
	}
	// Parts that may have expired are not missing.
	whole, err := w.store.Item(ctx, event.Key{PK: "ORDER#alone", SK: "ORDER"})
	must.Succeed(t, err)
	parts, err := w.plan.Parts(whole)
	must.Succeed(t, err)
	w.remove(stack.Events, itemKey(parts[0].Key))
	const margin = int64(tables.ExpiryMargin / time.Second)
	for _, c := range []struct {
		at   int64
		want int
	}{{whole.ExpiresAt - margin - 1, 1}, {whole.ExpiresAt - margin, 0}} {
		w.Clock.Set(time.Unix(c.at, 0))
		if missing, units, err := repair.Of(w.store).MissingParts(ctx, []*event.Item{whole}); err != nil || len(missing) != c.want ||
			units != float64(2*c.want) {
			t.Errorf("%d are missing for %v units, want %d: %v", len(missing), units, c.want, err)
		}
	}
}

// Parts are stamped with the epoch of the file, so they wait for the streams function of that
// epoch.
func TestPutPartsWaitsForTheEpoch(t *testing.T) {
	w := newWorld(t)
	spec := orders()
	spec.Epoch++
	_, early := w.open(withLines(spec))
	_, err := repair.Of(early).PutParts(context.Background())
	must.Fail(t, err, "put parts: refused, because the aggregates table")
}
