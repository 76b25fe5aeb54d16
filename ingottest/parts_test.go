package ingottest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/store/repair"
)

const alone = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: "ORDER"}
`

const withLines = alone + `
  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "LINE#{line}"}
aggregates:
  sold:
    since: 1
    onExpire: subtract
    from:
      line: {values: {pieces: sum pieces}}
`

const twoLines = `{"type":"order","order":"a","at":"2026-03-01T10:00:00Z","lines":[{"line":1,"pieces":2},{"line":2,"pieces":3}]}`

// soldBoth fails unless the order and both of its lines are stored, and the lines are counted.
func soldBoth(t *testing.T, w *World) {
	t.Helper()
	must.Equal(t, len(w.Items()), 3)
	sold := w.Total("sold", nil, w.Now())
	must.Equal(t, fmt.Sprint(sold.N, sold.Values["pieces"]), "2 5")
}

// TestDiesBetweenWholeAndParts kills the ingest function after each of its puts. The next delivery
// meets the whole, and puts the parts that are missing.
func TestDiesBetweenWholeAndParts(t *testing.T) {
	for request := 1; request <= 3; request++ { // the whole, and each line
		w := New(t, Config{Pipeline: written.Pipeline(t, withLines)})
		w.Crash(Ingest, request)
		w.Send(twoLines)
		w.Verify()
		soldBoth(t, w)
		if v := w.Verdicts(); v[event.Duplicate] != 1 || v[event.Inserted] != 0 {
			t.Errorf("killed after request %d: %v; the first delivery has no verdict, and the second meets the whole", request, v)
		}
	}
}

func TestEveryFaultWithParts(t *testing.T) {
	EveryFault(t, Config{Pipeline: written.Pipeline(t, withLines)}, func(t *testing.T, w *World) {
		w.handled(twoLines, twoLines, strings.Replace(twoLines, `"pieces":3`, `"pieces":4`, 1))
		soldBoth(t, w)
		if v := w.Verdicts(); v[event.Conflict] == 0 {
			t.Errorf("verdicts %v", v)
		}
	})
}

// TestVerifyNamesMissingParts shows that a world does not pass over an order that was stored by a
// function that did not know its lines.
func TestVerifyNamesMissingParts(t *testing.T) {
	w := New(t, Config{Pipeline: written.Pipeline(t, alone)})
	w.handled(twoLines)
	w.Deploy(written.Pipeline(t, strings.NewReplacer("epoch: 1", "epoch: 2", "since: 1", "since: 2").Replace(withLines)))
	b := w.verified()
	must.Say(t, b.errors, "2 parts of stored events are missing")
	must.Equal(t, strings.Count(b.errors, "\n"), 1, b.errors)
	done, err := repair.Of(w.Store()).PutParts(context.Background())
	must.Succeed(t, err)
	must.Equal(t, done.Put, 2)
	w.Verify()
	if sold := w.Total("sold", nil, w.Now()); sold.Values["pieces"].String() != "5" {
		t.Errorf("%v", sold)
	}
}

const claiming = `
ingot: 1
epoch: 1
type: "{type}"
events:
  account:
    atomic: true
    id: "{account}"
    at: "{at}"
    key: {pk: "ACCOUNT#{account}", sk: "ACCOUNT"}
  email:
    part: {of: account, with: [account, email]}
    id: "{email}"
    key: {pk: "EMAIL#{email}", sk: "CLAIM"}
  name:
    part: {of: account, with: [name]}
    id: "{name}"
    key: {pk: "NAME#{name}", sk: "CLAIM"}
aggregates:
  claims:
    since: 1
    from:
      email: {values: {claims: count}}
`

// Whatever fault befalls one request, a unique value has one owner, all of the owner's items are
// stored, and nothing of the other's.
func TestEveryFaultOfClaims(t *testing.T) {
	account := func(id, email, name string) string {
		return `{"type":"account","account":"` + id + `","email":"` + email + `","name":"` + name + `","at":"2026-03-01T10:00:00Z"}`
	}
	EveryFault(t, Config{Pipeline: written.Pipeline(t, claiming)}, func(t *testing.T, w *World) {
		w.handled(account("1", "x", "ann"), account("2", "x", "bob"), account("1", "x", "ann"), account("3", "y", "eve"))
		w.Send(account("4", "z", "eve"))
		w.Redeliver()
		w.Drain()
		stored := map[string]bool{}
		for _, item := range w.Items() {
			stored[item.Type+" "+item.ID] = true
		}
		owners := 0
		for id, name := range map[string]string{"1": "ann", "2": "bob"} { // which one is first depends on the fault
			if stored["account "+id] {
				owners++
			}
			must.Equal(t, stored["account "+id], stored["name "+name], id)
		}
		if owners != 1 || !stored["email x"] || !stored["account 3"] || !stored["email y"] || !stored["name eve"] || len(stored) != 6 {
			t.Errorf("%d owners of x, and stored are %v", owners, stored)
		}
		if total := w.Total("claims", nil, w.Now()); total.Values["claims"].String() != "2" {
			t.Errorf("%v", total)
		}
		refused := map[string]bool{}
		for _, letter := range w.Quarantined() {
			if letter.Verdict != event.Conflict.String() || letter.Reason != event.Claimed {
				t.Errorf("in quarantine is %+v", letter)
			}
			refused[letter.Body] = true
		}
		must.Equal(t, len(refused), 2, refused)
	})
}
