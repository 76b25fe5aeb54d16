package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// atomicOrders is withParts, put together, where the order also claims its number.
var atomicOrders = strings.Replace(strings.Replace(withParts, `    ignore: [trace]`, `    ignore: [trace]
    atomic: true`, 1), `  byCustomer:`, `  number:
    part: {of: order, with: [number]}
    id: "{number}"
    key: {pk: "NUMBER#{number}", sk: "CLAIM"}
  byCustomer:`, 1)

// An atomic type plans the same items, and says that they are put together. A part whose key does
// not show the id of the whole is a claim.
func TestAtomic(t *testing.T) {
	p, plain := mustLoad(t, atomicOrders), mustLoad(t, withParts)
	m := message(`[{"line":1,"sku":"a","quantity":2}]`, `"number":7`)
	whole, err := p.Plan(m)
	must.Succeed(t, err)
	before, err := plain.Plan(m)
	if err != nil || !whole.Parts.Atomic || before.Parts.Atomic || whole.Digest != before.Digest || whole.Parts.Count != 3 {
		t.Errorf("%+v %+v %v", whole.Parts, before.Parts, err)
	}
	for name, want := range map[string]string{"number": "order", "line": "", "byCustomer": "", "order": "", "other": ""} {
		if whole, is := p.ClaimOf(name); whole != want || is != (want != "") {
			t.Errorf("%s: a claim of %q, %v", name, whole, is)
		}
	}
	if !p.Atomic("order") || p.Atomic("line") || plain.Atomic("order") || !p.UsesAtomic() || plain.UsesAtomic() {
		t.Error("atomic")
	}
	// Two wholes with one claim have one key and two digests.
	other, err := p.Plan(message(`[]`, `"number":7`, `"shop2":1`))
	must.Succeed(t, err)
	claim := func(item *event.Item) *event.Item {
		for _, part := range item.Parts.Items {
			if part.Type == "number" {
				return part
			}
		}
		return nil
	}
	if a, b := claim(whole), claim(other); a.Key != b.Key || a.Digest != b.Digest { // of one order
		t.Errorf("%v %v", a, b)
	}
	m.Body = strings.Replace(m.Body, `"order":"1"`, `"order":"2"`, 1)
	second, err := p.Plan(m)
	if a, b := claim(whole), claim(second); err != nil || a.Key != b.Key || a.Digest == b.Digest || a.Data != b.Data {
		t.Errorf("%v %v %v", a, b, err)
	}
	alone := mustLoad(t, strings.Replace(atomicOrders, "    part: {of: order, with: [number]}", "    part: {of: order, each: numbers}", 1))
	if item, err := alone.Plan(message(`[]`, `"numbers":[]`)); err != nil || !item.Parts.Atomic { // the one by customer
		t.Errorf("%+v %v", item.Parts, err)
	}
}

// What one transaction cannot put is Poison. A whole that was stored with more parts before it
// became atomic still has them.
func TestTooMuchAtOnce(t *testing.T) {
	p := mustLoad(t, atomicOrders)
	for _, c := range []struct {
		name   string
		lines  string
		note   int
		detail string // empty: it fits
	}{
		{"100 items", manyLines(97), 1, ""},
		{"101 items", manyLines(98), 1,
			"the message yields 101 items with its whole, and order is atomic: a transaction puts at most 100 items"},
		{"just below the bytes", manyLines(97), 39_000, ""},
		{"too many bytes", manyLines(97), 42_000, "and order is atomic: those of a transaction take at most 4000000 bytes"},
	} {
		m := message("["+c.lines+"]", `"number":7`, `"note":"`+strings.Repeat("x", c.note)+`"`)
		item, err := p.Plan(m)
		var r *event.Refusal
		switch errors.As(err, &r); {
		case c.detail == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.detail == "":
		case r == nil || item != nil || r.Verdict != event.Poison || r.Reason != event.TooManyParts ||
			!strings.Contains(r.Detail, c.detail) || r.Key.SK != "ORDER":
			t.Errorf("%s: %v", c.name, err)
		default:
			whole, err := mustLoad(t, withParts).Plan(m)
			must.Succeed(t, err)
			if parts, err := p.Parts(whole); err != nil || len(parts) != whole.Parts.Count+1 { // and the claim
				t.Errorf("%s: stored before, it has %d parts, %v", c.name, len(parts), err)
			}
		}
	}
}

func TestBadAtomic(t *testing.T) {
	for _, c := range map[string]struct{ old, new, want string }{
		"a type without parts": {"  line:\n",
			"  other: {id: \"{id}\", at: \"{at}\", key: {pk: \"O#{id}\", sk: \"O\"}, atomic: true}\n  line:\n",
			"p.yaml:12:73: no type is a part of other, so nothing is stored together with it; write other without atomic, or a type with " +
				"part: {of: other}"},
		"a part": {"  line:\n", "  line:\n    atomic: true\n",
			"p.yaml:13:13: line is a part, and is stored as its whole says; write it in order"},
		"not a truth": {"atomic: true", "atomic: always",
			"p.yaml:11:13: atomic is text, not true or false; write true, or leave atomic out"},
		"a claim without atomic": {"    atomic: true\n", "",
			"key does not show order of the whole, which the id of order uses: parts of two wholes could have one key"},
	} {
		refused(t, strings.Replace(atomicOrders, c.old, c.new, 1), c.want)
	}
}
