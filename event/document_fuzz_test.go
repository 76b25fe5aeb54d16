package event

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/kit/corpus"
)

// acceptable is the naive twin of ParseDocument: the standard library's judgement and then each
// extra rule by itself.
func acceptable(src string) bool {
	return utf8.ValidString(src) && json.Valid([]byte(src)) && pairedSurrogates(src) && tokensFine(src)
}

// pairedSurrogates looks at the UTF-16 code units of every \u escape. src is valid JSON.
func pairedSurrogates(src string) bool {
	for i := 0; i < len(src); i++ {
		if src[i] != '\\' {
			continue
		}
		i++
		if src[i] != 'u' {
			continue
		}
		unit, _ := strconv.ParseUint(src[i+1:i+5], 16, 16)
		i += 4
		if !utf16.IsSurrogate(rune(unit)) {
			continue
		}
		if unit >= 0xdc00 || !strings.HasPrefix(src[i+1:], `\u`) {
			return false
		}
		low, _ := strconv.ParseUint(src[i+3:i+7], 16, 16)
		if low < 0xdc00 || low > 0xdfff {
			return false
		}
		i += 6
	}
	return true
}

var longExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{18}`)

// tokensFine checks depth, duplicate members and exponents.
func tokensFine(src string) bool {
	type frame struct {
		object, value bool // value: the next token of an object is a member's value
		names         map[string]bool
	}
	var stack []frame
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].object {
			top := &stack[n-1]
			if !top.value {
				if top.names[token.(string)] {
					return false
				}
				top.names[token.(string)] = true
			}
			top.value = !top.value
		}
		switch token := token.(type) {
		case json.Delim:
			stack = append(stack, frame{object: token == '{', names: map[string]bool{}})
			if len(stack) > MaxDepth {
				return false
			}
		case json.Number:
			if longExponent.MatchString(token.String()) {
				return false
			}
		}
	}
}

// same compares a node with what the standard library read.
func same(n Node, v any) bool {
	switch v := v.(type) {
	case nil:
		return n.Kind() == Null
	case bool:
		return n.Kind() == Bool && n.Text() == strconv.FormatBool(v)
	case json.Number:
		_, err := n.Decimal()
		return n.Kind() == Number && n.Text() == v.String() && err == nil
	case string:
		return n.Kind() == String && n.Text() == v
	case []any:
		if n.Kind() != Array || n.Len() != len(v) {
			return false
		}
		i := 0
		for e := range n.Elements() {
			if !same(e, v[i]) || n.Index(i) != e {
				return false
			}
			i++
		}
		return i == len(v)
	case map[string]any:
		count := 0
		for name, m := range n.Members() {
			value, found := v[name]
			if !found || !same(m, value) || n.Member(name) != m {
				return false
			}
			count++
		}
		return n.Kind() == Object && count == len(v) && n.Len() == count
	}
	return false
}

func checkDocument(t *testing.T, src string) {
	t.Helper()
	d, err := ParseDocument(src)
	if want := acceptable(src); (err == nil) != want {
		t.Fatalf("%q: ParseDocument says %v, the twin accepts it: %v", src, err, want)
	}
	if err != nil {
		if syntax := err.(*SyntaxError); syntax.Offset < 0 || syntax.Offset > len(src) || syntax.What == "" {
			t.Fatalf("%q: offset %d of %d, %q", src, syntax.Offset, len(src), syntax.What)
		}
		return
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil || !same(d.Root(), v) || d.Text() != src {
		t.Fatalf("%q: the document differs from %v (%v)", src, v, err)
	}
	if raw := d.Root().Raw(); raw != strings.Trim(src, " \t\r\n") {
		t.Fatalf("%q: raw root %q", src, raw)
	}
}

var documentSeeds = []string{
	order, `null`, ` [1, -0.5e+10 ,true,false,null,"x"] `, `{"a":{"a":{"a":1}},"b":[{},[],""]}`,
	`{"a":1,"\u0061":2}`, `"\ud83d\ude00\u0000\/"`, `"\ud800"`, `1e1000000000000000000`, `1e-0000000000000000000018`,
	"\"\xff\"", `{"":{"":1}}`, `[[[[[[]]]]]]`, `{"a":01}`, "\"\x1f\"", `"\ud800\udc00\udc00"`, "\"\u2028\x7f\"", `{"a":1,}`, "\uFEFF1",
}

func FuzzDocument(f *testing.F) {
	corpus.Add(f)
	for _, s := range documentSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { checkDocument(t, src) })
}

// Texts put together from the pieces that matter meet the twin far more often than bytes do.
func TestDocumentAgainstTheStandardLibrary(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ",", ":", ":", `"a"`, `"b"`, `"\u0061"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\\"`, `""`, "1", "-0",
		"1.5e9", "1e1000000000000000000", "true", "null", " ", "\n", "\"\xff\"", "\x00", "é"}
	r := seeded(t)
	for range 30_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkDocument(t, b.String())
	}
	for range 5_000 { // sound documents, then one byte off
		src := randomValue(r, 4)
		checkDocument(t, src)
		broken := []byte(src)
		broken[r.IntN(len(broken))] = "{}[],:\"\\0e-u\xff "[r.IntN(14)]
		checkDocument(t, string(broken))
	}
}

func randomValue(r *rand.Rand, depth int) string {
	names := []string{`"a"`, `"b"`, `"\u0062"`, `"c\n"`, `"ключ"`, `""`, `"😀"`}
	switch n := r.IntN(7); {
	case depth > 0 && n < 2:
		var members []string
		for range r.IntN(4) {
			members = append(members, names[r.IntN(len(names))]+" : "+randomValue(r, depth-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	case depth > 0 && n < 4:
		var elements []string
		for range r.IntN(4) {
			elements = append(elements, randomValue(r, depth-1))
		}
		return "[" + strings.Join(elements, " ,") + "]"
	case n < 5:
		return someLiteral(r)
	}
	return []string{`"x"`, `"\"\\\u00e9"`, "true", "false", "null", `"\ud83d\ude00"`}[r.IntN(6)]
}
