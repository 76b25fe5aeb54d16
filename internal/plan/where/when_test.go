package where

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// when compiles a text, which must be the condition of two payloads.
func when(t *testing.T, text string) *When {
	t.Helper()
	w, bad := ParseWhen(text)
	if bad != nil {
		t.Fatalf("%s: %v", text, bad)
	}
	return w
}

// TestWhen asks conditions of an earlier payload and of the one that takes its place. may is what
// holds if the earlier one is not known.
func TestWhen(t *testing.T) {
	const was = `{"status":"open","n":1,"m":{"a":[1,null],"b":2},"gone":1,"none":null,"t":"\u0041","big":9007199254740992,` +
		`"before":{"x":1}}`
	const is = `{"status":"paid","n":1.0,"m":{"b":2e0,"a":[1.00,null]},"new":1,"t":"A","big":9007199254740993,` +
		`"nothing":null,"before":{"x":2}}`
	for _, c := range []struct {
		text                string
		changed, first, may bool // first: there is no earlier payload
	}{
		{`changed(status)`, true, true, true}, {`changed(gone)`, true, false, true}, {`changed(new)`, true, true, true},
		{`changed(n)`, false, true, true}, {`changed(m)`, false, true, true}, {`changed(t)`, false, true, true},
		{`changed(big)`, true, true, true},
		{`changed(none) or changed(nothing) or changed(x)`, false, false, true}, {`not changed(status)`, false, false, true},
		{`before(status) = "open" and status = "paid"`, true, false, true},
		{`before(status) = "open" and status = "x"`, false, false, false},
		{`not (before(status) = "x" or changed(n))`, true, false, true}, {`not (status = "paid" or changed(n))`, false, false, false},
		{`exists before(gone) and not exists gone`, true, false, true}, {`before(status) in ("open")`, true, false, true},
		{`number(before(n)) < 2`, true, false, true}, {`status = "paid"`, true, true, true}, {`before(new) != 1`, false, false, true},
		{`["before"].x = 2 and before(before.x) = 1 and changed(before.x)`, true, false, true},
		{`exists before`, true, true, true}, {`changed(m.a[0]) or changed(m.c)`, false, true, true},
	} {
		w, now := when(t, c.text), document(t, is)
		got := [3]bool{w.Holds(now, document(t, was), true), w.Holds(now, event.Node{}, true), w.Holds(now, event.Node{}, false)}
		asks := strings.Contains(c.text, "changed(") || strings.Contains(c.text, "before(")
		if got != [3]bool{c.changed, c.first, c.may} || w.Asks != asks {
			t.Errorf("%s: %v, %+v", c.text, got, w)
		}
	}
}

// What a when reads is in both payloads.
func TestReadsOfWhen(t *testing.T) {
	w := when(t, `changed(a) and (number(before(b)) > 1 or not before(a) = "x" or exists before(c))`)
	var got []string
	for _, r := range w.Reads("u") {
		got = append(got, fmt.Sprint(r.Use, r.Path, len(r.Kinds), r.Needed))
	}
	must.Equal(t, strings.Join(got, " "), "ua 1 false ub 2 false uc 5 false")
}

func TestMistakesOfWhen(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		want   string
	}{
		{`n > 1 and before.status = "open"`, 10,
			`before.status would be a field in a field of this payload called before; write before(status)`},
		{`changes(status)`, 0, `changes is not a function; write changed(PATH), before(PATH) or number(PATH)`},
		{`total > before(total)`, 8, `a field is compared with a value, not with another field; ` +
			`write a number or a text in quotes, or changed(PATH) in place of the comparison`},
		{`changed(status`, 14, `found the end where the condition needs a closing parenthesis; write changed(PATH)`},
		{`before(a, b) = 1`, 8, `found , where the condition needs a closing parenthesis; write before(PATH)`},
		{`before(n) is not null`, 0, `no field is ever equal to null; write exists before(n)`},
		{`changed(status) = true`, 16, ``}, {`changed(items[].sku)`, 8, ``}, {`before(status)`, 14, ``}, {`changed()`, 8, ``},
	} {
		if _, bad := ParseWhen(c.text); bad == nil || bad.Offset != c.offset || c.want != "" && bad.Error() != c.want {
			t.Errorf("%s: %+v", c.text, bad)
		}
		if _, bad := Parse(c.text); bad == nil && !strings.Contains(c.text, "before.") {
			t.Errorf("%s is a where", c.text)
		}
	}
}

// A when of one payload is a where. Of two, it agrees with its twin, which has three values: false,
// unknown and true.
func TestWhenAgainstItsTwin(t *testing.T) {
	r := seed(t)
	var counts [4]int
	for range 30_000 {
		text, naive := randomWhen(r, 3)
		texts := [2]string{randomPayload(r), randomPayload(r)}
		if r.IntN(3) == 0 {
			texts[1] = "{}"
		}
		docs := [2]map[string]any{plain(t, texts[0]), plain(t, texts[1])}
		w := when(t, text)
		now, before := document(t, texts[0]), document(t, texts[1])
		got := [2]bool{w.Holds(now, before, true), w.Holds(now, before, false)}
		if want := [2]bool{naive(docs[0], docs[1]) == 2, naive(docs[0], nil) > 0}; got != want {
			t.Fatalf("%s of %s after %s: %v, and its twin says %v", text, texts[0], texts[1], got, want)
		}
		if got[0] && !got[1] {
			t.Fatalf("%s of %s holds after %s, and cannot hold after something unknown", text, texts[0], texts[1])
		}
		counts[map[[2]bool]int{{true, true}: 1, {false, true}: 2}[got]]++
	}
	if counts[0] < 1000 || counts[1] < 3000 || counts[2] < 1000 {
		t.Errorf("too one-sided to prove anything: %v", counts)
	}
}

// three is a condition of two payloads: 0 is false, 1 unknown and 2 true. The earlier one is nil if
// it is not known.
type three func(now, before map[string]any) int

var ofField = regexp.MustCompile(`^(exists\s+|number\( )?([a-f])`)

func randomWhen(r *rand.Rand, depth int) (string, three) {
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		s, left := randomWhen(r, depth-1)
		u, right := randomWhen(r, depth-1)
		if n == 0 {
			return "(" + s + " or " + u + ")", func(is, was map[string]any) int { return max(left(is, was), right(is, was)) }
		}
		return "(" + s + " and " + u + ")", func(is, was map[string]any) int { return min(left(is, was), right(is, was)) }
	case depth > 0 && n == 3:
		s, of := randomWhen(r, depth-1)
		return "not " + s, func(is, was map[string]any) int { return 2 - of(is, was) }
	case n == 4:
		f := twinFields[r.IntN(len(twinFields))]
		return "changed(" + f + ")", func(is, was map[string]any) int {
			if was == nil {
				return 1
			}
			return known(!reflect.DeepEqual(valued(is[f]), valued(was[f])))
		}
	}
	s, of := randomWhere(r, 0)
	if r.IntN(2) == 0 {
		return s, func(is, _ map[string]any) int { return known(of(is)) }
	}
	return ofField.ReplaceAllString(s, "${1}before($2)"), func(_, was map[string]any) int {
		if was == nil {
			return 1
		}
		return known(of(was))
	}
}

func known(is bool) int {
	if is {
		return 2
	}
	return 0
}

// valued returns a value of JSON that equals another one of the same value.
func valued(v any) any {
	if n, is := v.(json.Number); is {
		of, _ := new(big.Rat).SetString(string(n))
		return of.String()
	}
	return v
}
