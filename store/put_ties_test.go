package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

// ticketed adds a type whose revisions are ordered by two numbers.
func ticketed(s *setup) {
	adds(&s.Spec, `
events:
  ticket:
    {id: "{id}", at: "{at}", key: {pk: "TICKET#{id}", sk: "-"}, retain: 90d,
     mode: latest, revision: [rev number, seq number]}
`)
}

// ticket returns revision "rev/seq" of ticket t. If it has no seq, the item has none either.
func (w *world) ticket(revision string, more ...string) *event.Item {
	rev, seq, has := strings.Cut(revision, "/")
	members := append([]string{`"type":"ticket"`, `"id":"t"`, `"at":"2099-03-01T10:00:00Z"`, `"rev":` + rev}, more...)
	if has {
		members = append(members, `"seq":`+seq)
	}
	return w.item(members...)
}

// Equal revisions are ordered by the further values of the list, as numbers. A missing value is
// below all others. If all are equal, another payload is a Conflict.
func TestTiesAreBroken(t *testing.T) {
	for _, c := range []struct{ stored, comes, want string }{
		{"5/9", "5/10", "Updated"},
		{"5/10", "5/9", "Stale"},
		{"5/-10", "5/-9", "Updated"},
		{"5/0.5", "5/0", "Stale"},
		{"5", "5/-1e9", "Updated"},
		{"5/-1e9", "5", "Stale"},
		{"5/9", "6", "Updated"},
		{"5/9", "4/99", "Stale"},
		{"5/9", "5/9.0 other", "Conflict"},
		{"5", "5 other", "Conflict"},
		{"5/9", "5/9", "Duplicate"},
	} {
		for _, many := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, then %s, many=%v", c.stored, c.comes, many), func(t *testing.T) {
				w := newWorld(t, ticketed)
				w.arrive(w.ticket(c.stored))
				revision, other, _ := strings.Cut(c.comes, " ")
				item := w.ticket(revision)
				if other != "" {
					item = w.ticket(revision, `"x":1`)
				}
				items := events{item}
				for i := 0; many && i < 10; i++ {
					items = append(items, w.order(fmt.Sprint(i), i))
				}
				results, _ := w.arrive(items...)
				must.Equal(t, verdicts(results[:1]), c.want)
				want := w.ticket(c.stored)
				if c.want == "Updated" {
					want = item
				}
				img := w.stored("events", item.Key)
				if rows.TextOf(img["i:revision"]) != want.Ties ||
					rows.TextOf(img["data"]) != want.Data {
					t.Errorf("stored %v, want %s", img, want.Data)
				}
			})
		}
	}
}

// The newest of a batch's copies is tried, compared by the whole list.
func TestTheNewestOfABatchByTheWholeList(t *testing.T) {
	w := newWorld(t, ticketed)
	w.judges("Stale Inserted Stale Stale Stale", w.ticket("5/9"), w.ticket("5/11"), w.ticket("5"), w.ticket("5/10"),
		w.ticket("4/99"))
}

// An older function stores no ties. Then the ties are computed from the stored payload, so an older
// report is not taken for a newer one.
func TestTiesOfWhatAnOlderFunctionStored(t *testing.T) {
	w := newWorld(t, ticketed)
	older := w.changed(ofType("ticket", func(e *pipeline.EventSpec) { e.Revision = "rev number" }))
	body := []string{`"type":"ticket"`, `"id":"t"`, `"at":"2099-03-01T10:00:00Z"`, `"rev":5`, `"seq":9`}
	older.Put(deadline(t), events{w.itemOf(older.Config().Pipeline, body...)})
	if img := w.stored("events", under("TICKET#t", "-")); img["i:revision"] != nil {
		t.Fatalf("the older function stored ties: %v", img)
	}
	for _, step := range []struct{ revision, want string }{{"5/8", "Stale"}, {"5/9", "Duplicate"}, {"5/10", "Updated"}, {"5/9", "Stale"}} {
		w.judges(step.want, w.ticket(step.revision))
	}
}

// A replacement names the whole revision that it saw. If the ties beside an equal revision have
// changed since, the replacement is refused and judged again.
func TestAReplacementNamesTheWholeRevision(t *testing.T) {
	put := func(stored string, meanwhile func(w *world, key event.Key)) int {
		w := newWorld(t, ticketed)
		w.arrive(w.ticket(stored))
		newer := w.ticket("5/10")
		// The second read brings the payload, which breaks the tie.
		w.faults = []fault{{API: "BatchGetItem"}, {API: "BatchGetItem", Edit: func(any) { meanwhile(w, newer.Key) }}}
		items := events{newer}
		items = append(items, w.orders(0, 10)...)
		results, cost := w.arrive(items...)
		must.Equal(t, verdicts(results[:1]), "Updated")
		return cost.Requests
	}
	for _, stored := range []string{"5/9", "5"} {
		undisturbed := put(stored, func(*world, event.Key) {})
		disturbed := put(stored, func(w *world, key event.Key) {
			w.Alter(t, "events", itemKey(key), "SET #n = :v", textValue("35018"), "i:revision")
		})
		must.Equal(t, disturbed, undisturbed+1, stored, undisturbed)
	}
}
