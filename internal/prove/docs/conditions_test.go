package docs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

// TestConditions runs the examples of what can hold before an event is stored, on docs/parts.md and
// docs/totals.md, and one of docs/pipeline.md of events that live longer.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		file, has      string
		before, bodies []string
		stored         int    // of all these
		reason         string // of the others, which are in quarantine
	}{
		{"docs/parts.md", "transfer.posted", nil, []string{
			`{"type":"transfer.posted","transfer_id":"1","posted_at":"2031-03-01T09:00:00Z","from_account":"a","to_account":"b"}`,
			`{"type":"account.opened","account":"a","opened_at":"2031-03-01T09:00:00Z"}`,
			`{"type":"account.opened","account":"b","opened_at":"2031-03-01T09:00:00Z"}`,
			`{"type":"transfer.posted","transfer_id":"2","posted_at":"2031-03-01T09:00:00Z","from_account":"a","to_account":"nobody"}`,
		}, 3, "requires"},
		{"docs/totals.md", "goods.reserved", []string{
			`{"type":"goods.received","id":"r","sku":"tea","quantity":4,"at":"2031-03-01T08:00:00Z"}`},
			append(reserved(4, "ann", 1), reserved(2, "bob", 2)...), 4, "above-ceiling below-floor"},
		{"docs/pipeline.md", "was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", nil, []string{
			`{"type":"reading","sensor":"s","taken_at":"2031-03-01T09:00:00Z"}`}, 1, ""},
	} {
		w := ingottest.New(t, ingottest.Config{Pipeline: written.Pipeline(t, blockWith(t, c.file, "yaml pipeline", c.has))})
		handled(w, c.before...)
		w.Send(c.bodies...)
		for range 3 { // what lacks something comes again twice
			w.Advance(time.Hour)
			w.Drain()
		}
		reasons := map[string]bool{}
		for _, letter := range w.Quarantined() {
			reasons[string(letter.Reason)] = true
		}
		for reason := range strings.FieldsSeq(c.reason) {
			if !reasons[reason] {
				t.Errorf("%s: nothing was refused as %s: %v", c.file, reason, reasons)
			}
		}
		must.Equal(t, len(w.Items()), c.stored, c.file)
		w.Verify()
	}
}

func reserved(n int, customer string, quantity int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf(`{"type":"goods.reserved","id":"%s-%d","sku":"tea","customer":%q,"quantity":%d,`+
			`"at":"2031-03-01T09:00:00Z"}`, customer, i, customer, quantity))
	}
	return bodies
}
