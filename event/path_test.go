package event

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestPathReadsAndWrites(t *testing.T) {
	cases := []struct{ in, out string }{
		{"a", "a"}, {"a.b", "a.b"}, {"total_cents", "total_cents"}, {"_x.$y", "_x.$y"}, {"a-b.c2", "a-b.c2"}, {"größe.日本", "größe.日本"},
		{"items[0].sku", "items[0].sku"}, {"[2]", "[2]"}, {"[2][10]", "[2][10]"}, {`["odd.name"]`, `["odd.name"]`},
		{`["plain"]`, "plain"}, {`a["plain"].b`, "a.plain.b"}, {`a["x y"][3]`, `a["x y"][3]`}, {`[""]`, `[""]`}, {`["2fa"]`, `["2fa"]`},
		{`["q\"\\"]`, `["q\"\\"]`}, {`["\u0041"]`, "A"}, {`["\n"]`, `["\u000a"]`}, {`["@id"]`, `["@id"]`}, {`["]"].x`, `["]"].x`},
		{`["-a"]`, `["-a"]`},
	}
	for _, c := range cases {
		p, err := ParsePath(c.in)
		must.Succeed(t, err)
		must.Equal(t, p.String(), c.out, c.in, p)
		if again, err := ParsePath(p.String()); err != nil || !again.Equal(p) || p.IsZero() {
			t.Errorf("%s is read back as %v, %v", c.out, again, err)
		}
	}
}

func TestPathRefuses(t *testing.T) {
	for _, s := range []string{"", ".", "a.", ".a", "a..b", "a b", " a", "a ", "2fa", "-a", "a[", "a[]", "a[-1]", "a[01]", "a[1", "a[1x]",
		"a[99999999999999999999]", `a["x]`, `a["x"`, `a["x"y]`, `a['x']`, "a]", "a[0]b", "@id", "a.@b", "a.[0]", "a{b", "a|b", `["\ud800"]`,
		"[\"\xff\"]", "a\xff", `["\x"]`} {
		if p, err := ParsePath(s); err == nil {
			t.Errorf("%q is read as %s", s, p)
		} else if !strings.HasPrefix(err.Error(), "path ") {
			t.Errorf("%q: %v does not name the path", s, err)
		}
	}
}

func TestPathRelations(t *testing.T) {
	cases := []struct {
		p, q            string
		equal, contains bool
	}{
		{"a", "a", true, true}, {"a", `["a"]`, true, true}, {"a", "a.b", false, true}, {"a.b", "a", false, false},
		{"a", "ab", false, false},
		{"a[0]", "a[0].x", false, true}, {"a[0]", "a[1]", false, false}, {"a[0]", `a["0"]`, false, false}, {`["a.b"]`, "a.b", false, false},
	}
	for _, c := range cases {
		p, _ := ParsePath(c.p)
		q, _ := ParsePath(c.q)
		must.Equal(t, p.Equal(q), c.equal, p, q)
		must.Equal(t, p.Contains(q), c.contains, p, q)
	}
	var root Path
	a := root.Member("a")
	if got := a.Index(2).Member("x y").String(); got != `a[2]["x y"]` || !root.IsZero() || !root.Contains(a) || a.String() != "a" {
		t.Errorf("a path built step by step is %s", got)
	}
	if left, right := a.Member("l"), a.Member("r"); left.String() != "a.l" || right.String() != "a.r" {
		t.Errorf("siblings share memory: %s, %s", left, right)
	}
}

// Any sequence of steps survives being written and read, whatever its names hold.
func TestPathRoundTrip(t *testing.T) {
	r := seeded(t)
	alphabet := []rune("ab0-_$.[]\"\\@{}|# \n\x00é日😀\u0301")
	for range 20_000 {
		var p Path
		for range 1 + r.IntN(4) {
			if r.IntN(3) == 0 {
				p = p.Index(r.IntN(100))
				continue
			}
			var name []rune
			for range r.IntN(4) {
				name = append(name, alphabet[r.IntN(len(alphabet))])
			}
			p = p.Member(string(name))
		}
		if again, err := ParsePath(p.String()); err != nil || !again.Equal(p) {
			t.Fatalf("%q is read back as %v, %v", p, again, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{"a.b[2]", `["odd.name"].x`, `a["\u0041"]`, "größe", "a..b", "[", `["`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		if again, err := ParsePath(p.String()); err != nil || !again.Equal(p) || again.String() != p.String() {
			t.Fatalf("%q, written %q, is read back as %v, %v", s, p, again, err)
		}
	})
}
