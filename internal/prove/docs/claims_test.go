package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/store/repair"
)

// handled sends messages, and lets both functions handle them.
func handled(w *ingottest.World, bodies ...string) {
	w.Send(bodies...)
	w.Drain()
}

// TestClaims runs the accounts of docs/parts.md: whatever stops or fails, a value has one owner,
// and the owner that is erased releases it.
func TestClaims(t *testing.T) {
	p := written.Pipeline(t, blockWith(t, "docs/parts.md", "yaml pipeline", "email.claimed"))
	account := func(id, email, name string) string {
		return fmt.Sprintf(`{"type":"account.opened","account_id":%q,"email":%q,"name":%q,"opened_at":"2026-03-01T10:00:00Z"}`, id,
			email, name)
	}
	ann, bob, cas := account("1", "a@example.com", "ann"), account("2", "a@example.com", "bob"), account("3", "c@example.com", "ann")
	ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
		handled(w, ann)
		handled(w, bob, cas, ann)
		letters := w.Quarantined()
		var got []string
		for _, l := range letters {
			got = append(got, fmt.Sprintf("%s %s %s", l.Verdict, l.Reason, l.Key))
		}
		slices.Sort(got)
		got = slices.Compact(got) // a message may be quarantined twice
		must.Equal(t, len(w.Items()), 3)
		must.Equal(t, strings.Join(got, ", "), "Conflict claimed EMAIL#a@example.com / CLAIM, Conflict claimed NAME#ann / CLAIM")
		whole, err := p.Plan(envelope.Message{Body: ann})
		must.Succeed(t, err)
		if _, err := repair.Of(w.Store()).Erase(t.Context(), whole.Key); err != nil {
			return // a fault; the next try is another run
		}
		handled(w, ann, bob, cas)
		must.Equal(t, len(w.Items()), 6)
	})
}
