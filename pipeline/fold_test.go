package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// folded returns a file of one type with this id and key, and a part of it.
func folded(id, pk, sk, part string) string {
	return fmt.Sprintf("ingot: 1\nepoch: 1\ntype: a\nevents:\n  a:\n    id: %q\n    at: \"{t}\"\n    key: {pk: %q, sk: %q}\n"+
		"  p:\n    part: {of: a, each: l, with: [m, n, u]}\n    id: %q\n    key: {pk: \"P\", sk: \"{@id}\"}\n", id, pk, sk, part)
}

// Two payloads are one event if they say the same, but for the spelling of what the id folds. A
// plain reading says what that is.
func TestFoldedIDsAgainstAPlainReading(t *testing.T) {
	rng := rand.New(rand.NewPCG(replay.Seed(t, 0), 1))
	p := mustLoad(t, folded("{m | strip | lower}#{n | number}#{u | urldecode}", "{m | strip | lower | sha256}#{n | number}",
		"{u | urldecode}", "{m | strip | lower}#{n | number}#{u | urldecode}#{i}"))
	among := func(list ...string) string { return list[rng.IntN(len(list))] }
	body := func() (text, plain string) {
		m, n := among("x", "X", " x", "\u00a0X ", "y"), among("5", "5.0", `"5"`, `"5e0"`, "6")
		u, other := among("a b", "a+b", "a%20b", "a%2Bb"), among("x", "X")
		text = fmt.Sprintf(`{"m":%q,"t":"2026-03-01T00:00:00Z","n":%s,"u":%q,"other":%q,"l":[{"i":1}]}`, m, n, u, other)
		u = strings.NewReplacer("+", " ", "%20", " ", "%2B", "+").Replace(u)
		return text, fmt.Sprint(strings.ToLower(strings.TrimSpace(m)), strings.Trim(n, `"`)[:1], u, other)
	}
	same := 0
	for range 3000 {
		one, plain := body()
		two, again := body()
		a, err := p.Plan(envelope.Message{Body: one})
		must.Succeed(t, err)
		b, err := p.Plan(envelope.Message{Body: two})
		must.Succeed(t, err)
		if (plain == again) != (a.Digest == b.Digest && a.Key == b.Key && a.ID == b.ID) {
			t.Fatalf("%s and %s: %+v, %s, and %+v, %s", one, two, a.Key, a.Digest, b.Key, b.Digest)
		}
		if stored, err := p.Redigest("a", two); err != nil || stored != b.Digest {
			t.Fatalf("%s: its digest is %s, and once it is stored %s, %v", two, b.Digest, stored, err)
		}
		x, y := a.Parts.Items[0], b.Parts.Items[0]
		if plain == again && (x.Digest != y.Digest || x.Key != y.Key) {
			t.Fatalf("%s and %s: their parts are %+v, %s, and %+v, %s", one, two, x.Key, x.Digest, y.Key, y.Digest)
		}
		if plain == again && one != two {
			same++
		}
	}
	if same < 30 {
		t.Errorf("%d pairs in other spellings: the test says little", same)
	}
	text, err := p.DigestText("a", `{"m":" X","n":"5.0","u":"a+b","other":" X"}`)
	var list []any
	must.Succeed(t, json.Unmarshal([]byte(text), &list))
	must.Equal(t, fmt.Sprint(list, err), "[a map[m:x n:5 other: X u:a b]] <nil>")
}

func TestMistakesInFoldedIDs(t *testing.T) {
	const whole, raw = "{m | lower}", "shows m in the spelling in which it came, and the id does not: one event could have two keys; " +
		"write {m | lower}"
	for _, c := range []struct{ id, pk, sk, part, want string }{
		{whole, whole, "-", "{m | lower}#{i}", ""},
		{whole, "x", "{@id}", "{m | lower}#{i}", ""},
		{whole, "{m | lower | trim}", "{@id}", "{m | lower | trim}#{i}", "p.yaml:12:10: key does not show m"},
		{whole, "{m | lower | hmac}", "-", "{m | lower | sha256}#{i}", ""},
		{"{m}#{n | lower}", "{m}", "{n | lower}", "{m}#{n | lower}#{i}", ""},
		{"{m}#{m | lower}", "{m}", "{m | lower}", "{m}#{i}", ""},
		{whole, "{m}", "-", "{m | lower}#{i}", "p.yaml:8:16: pk " + raw},
		{whole, "{m | trim | lower}", "{@id}", "{m | lower}#{i}", "p.yaml:8:16: pk " + raw},
		{whole, "{@id}", "{m | upper}", "{m | lower}#{i}", "p.yaml:8:29: sk " + raw},
		{whole, "{@id}", "-", "{m}#{i}", "p.yaml:11:10: id " + raw},
		{"{m | lower}#{m | trim}", "{@id}", "-", "{m | lower}#{i}", "p.yaml:6:22: id shows m in two spellings; write one of the two"},
		{"{m | lower}#{m | first:1}", "{@id}", "-", "{m | lower}#{i}", "p.yaml:6:22: id shows m in two spellings"},
		{"{m | upper}", "{@id}", "-", "{m}#{i}", "p.yaml:6:10: id shows m only through a function that loses a part of it"},
		{"{m | sha256 | lower}", "{@id}", "-", "{m}#{i}", "p.yaml:6:10: id shows m only through a function that loses a part of it"},
		{"{m | lower}#{n}", "{m | lower | first:2}", "{n}", "{m | lower}#{n}#{i}", "p.yaml:8:10: key shows m, which id uses, only through"},
	} {
		_, err := loadText(folded(c.id, c.pk, c.sk, c.part))
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s, %s, %s, %s: %v, want %s", c.id, c.pk, c.sk, c.part, err, c.want)
		}
	}
}

// What the id of a whole folds inside an object, its parts fold under the name that they have of
// it.
func TestPartsFoldWhatTheirWholeFolds(t *testing.T) {
	text := folded("{o.m | lower}", "{o.m | lower}", "-", "{who | lower}#{i}")
	p := mustLoad(t, strings.Replace(text, "with: [m, n, u]", "with: {who: o.m}", 1))
	var items [2]string
	for i, m := range []string{"Ann", "ANN"} {
		item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"o":{"m":%q},"t":"2026-03-01T00:00:00Z","l":[{"i":1}]}`, m)})
		must.Succeed(t, err)
		part := item.Parts.Items[0]
		if whole := p.WholeOf(part); whole == nil || whole.Key != item.Key {
			t.Errorf("the whole of %s is %+v", part.Key, whole)
		}
		items[i] = item.Digest.String() + part.Digest.String() + part.Key.String()
	}
	must.Equal(t, items[0], items[1])
	refused(t, strings.Replace(strings.Replace(text, "with: [m, n, u]", "with: {who: o.m}", 1), "{who | lower}#", "{who}#", 1),
		"id shows who in the spelling in which it came")
}
