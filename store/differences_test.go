package store_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// conflictOf returns the detail of the Conflict that the second body gets.
func (w *world) conflictOf(first, second string) string {
	w.t.Helper()
	for i, body := range []string{first, second} {
		item, err := w.plan.PlanEvent(w.event(body))
		must.Succeed(w.t, err)
		results, _ := w.store.Put(w.t.Context(), events{item})
		if i == 0 && results[0].Verdict != event.Inserted || i == 1 && results[0].Verdict != event.Conflict {
			w.t.Fatalf("%s: %v %v", body, results[0].Verdict, results[0].Refusal)
		}
		if i == 1 {
			return results[0].Refusal.Detail
		}
	}
	return ""
}

func (w *world) event(body string) event.Event {
	w.t.Helper()
	return w.eventFrom("", body)
}

// A Conflict names the members that differ, and never shows their values.
func TestConflictNamesWhatDiffers(t *testing.T) {
	order := func(members string) string {
		return `{"type":"order","id":"o1","at":"2099-03-01T10:00:00Z","merchant":"m","cents":1,` + members + `}`
	}
	many := func(value int) string {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, `,"m%02d":%d`, i, value)
		}
		return order(b.String()[1:])
	}
	deep := func(value int) string {
		return order(strings.Repeat(`"level":{`, 40) + fmt.Sprintf(`"v":%d`, value) + strings.Repeat("}", 40))
	}
	deepest := func(value int) string {
		return order(strings.Repeat(`"n":{`, 255) + fmt.Sprintf(`"v":%d`, value) + strings.Repeat("}", 255))
	}
	long := strings.Repeat("né", 4000)
	for name, c := range map[string]struct{ first, second, want string }{
		"one":             {order(`"a":1,"b":"secret"`), order(`"a":1.0,"b":"another"`), "b"},
		"two, in order":   {order(`"b":1,"a":2`), order(`"b":2,"a":1`), "a, b"},
		"nested":          {order(`"c":{"e":1,"f":{"g":1,"h":2}}`), order(`"c":{"e":1,"f":{"g":2,"h":2}}`), "c.f.g"},
		"missing":         {order(`"a":1,"c":{"d":1}`), order(`"b":1,"c":{}`), "a, c.d, b"},
		"null is a value": {order(`"a":null`), order(`"b":0`), "a, b"},
		"another kind":    {order(`"a":{"b":1}`), order(`"a":"1"`), "a"},
		"an array":        {order(`"a":[{"b":1},2]`), order(`"a":[{"b":1},3]`), "a"},
		"with ignored":    {order(`"a":1,"trace":"x"`), order(`"a":2,"trace":"y"`), "a"},
		"beyond a float":  {order(`"a":9007199254740993,"b":1e2`), order(`"a":9007199254740992,"b":100`), "a"},
		"odd names": {order(`"a b":1,"":1,"x\u0000\n":1,"\u202e":1,"0":1`), order(`"a b":2,"":2,"x\u0000\n":2,"\u202e":2,"0":2`),
			`[""], ["0"], ["a b"], ["x\x00\n"], ["\u202e"]`},
		"an odd name inside": {order(`"a":{"b.c":{"d":1}}`), order(`"a":{"b.c":{"d":2}}`), `a["b.c"].d`},
		"many":               {many(1), many(2), "m00, m01, m02, m03, m04 and 25 more"},
		"a long name":        {order(`"` + long + `":1`), order(`"` + long + `":2`), `["` + strings.Repeat("né", 13) + `n…"]`},
		"deep":               {deep(1), deep(2), strings.TrimSuffix(strings.Repeat("level.", 20), ".") + ".…"},
		"too deep to say":    {deepest(1), deepest(2), ""},
	} {
		detail := newWorld(t).conflictOf(c.first, c.second)
		want := "another payload is stored under this key (they differ in " + c.want + "); stored digest "
		if c.want == "" {
			want = "another payload is stored under this key; stored digest "
		}
		if !strings.HasPrefix(detail, want) {
			t.Errorf("%s: %s, want %s", name, detail, want)
		}
		if len(detail) > 1024 || !utf8.ValidString(detail) || strings.ContainsAny(detail, "\n\x00\u202e") ||
			strings.Contains(detail, "secret") {
			t.Errorf("%s: unfit for a log: %q", name, detail)
		}
	}
}

// Two types may be declared with the same key. Then the Conflict says that the types differ.
func TestConflictNamesTheTypes(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		s.Events["order.refunded"] = s.Events["order"]
	})
	got := w.conflictOf(`{"type":"order","id":"o1","at":"2099-03-01T10:00:00Z","merchant":"m","cents":1}`,
		`{"type":"order.refunded","id":"o1","at":"2099-03-01T10:00:00Z","merchant":"m","cents":1}`)
	if want := ` (the stored one is of type "order", this one of type "order.refunded"); stored`; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// The cost of a payload with very many members grows with their number, and not with its square.
func TestConflictOfVeryManyMembers(t *testing.T) {
	body := func(value int) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, `,"m%05d":%d`, i, value)
		}
		return `{"type":"order","id":"o1","at":"2099-03-01T10:00:00Z","merchant":"m","cents":1` + b.String() + `}`
	}
	if got := newWorld(t).conflictOf(body(1), body(2)); !strings.Contains(got,
		"(they differ in m00000, m00001, m00002, m00003, m00004 and 19995 more);") {
		t.Errorf("%s", got[:200])
	}
}
