package keys

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// seeded makes the random numbers of a test.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(replay.Seed(t, 0), 0))
}

// nasty is made of what could break a key apart or make two one.
func nasty(r *rand.Rand, most int) string {
	alphabet := []string{"#", "%", "%23", "%25", "2", "3", "A", "a", "\x00", "\n", "\u0085", "\u00a0", "é", "😀", "{", "}", "|", "ORDER#",
		" ", "\uFFFD"}
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// escapeSlowly is Escape's naive twin, and unescape its inverse.
func escapeSlowly(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '%' || r == '#' || unicode.IsControl(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unescape(t *testing.T, s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if _, err := fmt.Sscanf(s[i+1:i+3], "%02X", &c); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			i += 2
		}
		b = append(b, c)
	}
	return string(b)
}

func TestEscapeAgainstItsTwin(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		s := nasty(r, 8)
		got := Escape(s)
		if got != escapeSlowly(s) || unescape(t, got) != s || strings.Contains(got, "#") {
			t.Fatalf("%q is escaped %q, want %q", s, got, escapeSlowly(s))
		}
	}
	for s, want := range map[string]string{"": "", "plain": "plain", "m#o": "m%23o", "100%": "100%25", "a\tb": "a%09b", "\x7f": "%7F",
		"\u0080\u009f\u00a0": "%C2%80%C2%9F\u00a0", "x\xffy": "x%FFy", "\xc2": "%C2", "é": "é"} {
		must.Equal(t, Escape(s), want, s)
	}
}

// Two different tuples never give one key, whatever a template puts between them, as long as it is
// separated.
func TestDifferentTuplesNeverShareAKey(t *testing.T) {
	r := seeded(t)
	templates := []*Template{compiled(t, "{a}#{b}#{c}"), compiled(t, "P{a}x#{b}#y{c}"), compiled(t, "{a}##{b}%23#{c}#"),
		compiled(t, "{c}#{a}a#A{b | sha256}")}
	for _, template := range templates {
		must.Succeed(t, template.CheckSeparated())
		tuples := map[string][3]string{}
		for range 15_000 {
			// Short texts of few letters, so that near misses are common.
			tuple := [3]string{nasty(r, 2), nasty(r, 2), nasty(r, 2)}
			if slices.Contains(tuple[:], "") {
				continue
			}
			payload, err := json.Marshal(map[string]string{"a": tuple[0], "b": tuple[1], "c": tuple[2]})
			must.Succeed(t, err)
			key, err := template.Expand(&Source{Data: root(t, string(payload))})
			must.Succeed(t, err)
			if !utf8.ValidString(key) {
				t.Fatalf("%q makes the key %q", tuple, key)
			}
			if before, taken := tuples[key]; taken && before != tuple {
				t.Fatalf("%s: %q and %q make one key %q", template.Text(), before, tuple, key)
			}
			tuples[key] = tuple
		}
	}
}

// Where a function promises order, text order is the order of times or numbers, and rev turns it
// around.
func TestOrder(t *testing.T) {
	r := seeded(t)
	check := func(text, a, b string, want int, keyed func(string) string) {
		t.Helper()
		if got := cmp.Compare(keyed(a), keyed(b)); got != want {
			t.Fatalf("%s: %s against %s is %d, want %d", text, a, b, got, want)
		}
	}
	through := func(text string) func(string) string {
		template := compiled(t, text)
		return func(value string) string {
			key, err := template.Expand(&Source{Data: root(t, `{"v":`+value+`}`)})
			must.Succeed(t, err)
			return key
		}
	}
	for range 3_000 {
		at, bt := someTime(r), someTime(r)
		a, b := spell(r, at), spell(r, bt)
		check("time", a, b, at.Compare(bt), through("{v | time}"))
		check("time | rev", a, b, -at.Compare(bt), through("{v | time | rev}"))
		check("unix | pad:12", a, b, cmp.Compare(at.Unix(), bt.Unix()), through("{v | unix | pad:12}"))
		check("day", a, b, at.Truncate(24*time.Hour).Compare(bt.Truncate(24*time.Hour)), through("{v | day}"))
		an, bn := r.Uint64N(1<<(1+r.UintN(63))), r.Uint64N(1<<(1+r.UintN(63)))
		a, b = fmt.Sprint(an), fmt.Sprint(bn)
		check("pad:20", a, b, cmp.Compare(an, bn), through("{v | pad:20}"))
		check("pad:20 | rev", a, b, -cmp.Compare(an, bn), through("{v | pad:20 | rev}"))
	}
}

func someTime(r *rand.Rand) time.Time {
	seconds, nano := r.Int64N(253402300800), r.Int64N(1e9)
	if r.IntN(2) == 0 {
		seconds = 1709647651 + r.Int64N(3)
		nano = []int64{0, 1, 5e8, 500_000_001, 999_999_999}[r.IntN(5)]
	}
	return time.Unix(seconds, nano).UTC()
}

// spell writes t in some zone, where its year stays a year of four digits.
func spell(r *rand.Rand, t time.Time) string {
	text := t.In(time.FixedZone("", 60*(r.IntN(2*60*14)-60*14))).Format(time.RFC3339Nano)
	if len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' {
		text = t.Format(time.RFC3339Nano)
	}
	return `"` + text + `"`
}

func TestParseTimeAgainstTheStandardLibrary(t *testing.T) {
	r := seeded(t)
	letters := "0123456789-:TZ+. "
	for range 50_000 {
		text := strings.Trim(spell(r, someTime(r)), `"`)
		if r.IntN(2) == 0 {
			broken := []byte(text)
			broken[r.IntN(len(broken))] = letters[r.IntN(len(letters))]
			text = string(broken)
		}
		if zone := len(text) - len("+hh:mm"); r.IntN(3) == 0 && text[zone+3] == ':' {
			text = text[:zone+3] + []string{text[zone+4:], ""}[r.IntN(2)]
		}
		if whole, is := strings.CutSuffix(text, "Z"); is && r.IntN(2) == 0 { // as in Ruby
			text = whole + []string{" UTC", "UTC", " Z", " UT", " "}[r.IntN(5)]
		}
		want, wantErr := time.Time{}, fmt.Errorf("not in the grammar")
		if m := timeGrammar.FindStringSubmatch(text); m != nil { // the library reads other texts as well
			zone := m[3]
			if zone == "UTC" {
				zone = "Z"
			}
			if zone != "Z" {
				zone = zone[:3] + ":" + cmp.Or(strings.TrimPrefix(zone[3:], ":"), "00")
			}
			want, wantErr = time.Parse(time.RFC3339Nano, m[1]+"T"+m[2]+zone)
		}
		if want = want.UTC(); wantErr == nil && (want.Year() < 1970 || want.Year() > 9999) {
			wantErr = fmt.Errorf("year %d", want.Year())
		}
		got, err := ParseTime(text)
		if (err == nil) != (wantErr == nil) || err == nil && !got.Equal(want) {
			t.Fatalf("%s: %v, %v; the standard library says %v, %v", text, got, err, want, wantErr)
		}
	}
}

// timeGrammar has the date, the time and the zone of a time.
var timeGrammar = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$`)

// A text that is encoded in any of the ways in which a URL may have it is read back.
func TestURLDecodeReadsEveryEncoding(t *testing.T) {
	r := seeded(t)
	for range 5000 {
		text, coded := "", ""
		for range 1 + r.IntN(8) {
			c := []string{"a", "Z", "+", "%", "#", " ", "/", "é", "\U0001F600", "\x00"}[r.IntN(10)]
			text += c
			for _, b := range []byte(c) {
				switch {
				case b == ' ' && r.IntN(2) == 0:
					coded += "+"
				case b != '+' && b != '%' && r.IntN(2) == 0:
					coded += string([]byte{b})
				default:
					coded += fmt.Sprintf([]string{"%%%02x", "%%%02X"}[r.IntN(2)], b)
				}
			}
		}
		payload, _ := json.Marshal(map[string]string{"x": coded})
		if utf8.ValidString(coded) { // otherwise JSON cannot hold it
			got, err := compiled(t, "{x | urldecode}").Plain(&Source{Data: root(t, string(payload))})
			if err != nil || got != text {
				t.Fatalf("%q: %q, %v, want %q", coded, got, err, text)
			}
		}
	}
}

// value is a JSON value that can be spelled in many ways.
type value struct {
	kind    event.Kind
	number  *big.Rat // of tens alone
	text    string
	names   []string
	members []value // or elements
}

func someValue(r *rand.Rand, depth int) value {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		v := value{kind: event.Object}
		for range r.IntN(5) {
			if name := nasty(r, 2); !slices.Contains(v.names, name) {
				v.names, v.members = append(v.names, name), append(v.members, someValue(r, depth-1))
			}
		}
		return v
	case n < 3 && depth > 0:
		v := value{kind: event.Array}
		for range r.IntN(4) {
			v.members = append(v.members, someValue(r, depth-1))
		}
		return v
	case n < 5:
		numbers := []string{"0", "1", "-1", "10", "0.1", "9007199254740992", "9007199254740993", "1e37", "1e38", "1e-38",
			"123456789012345678901234567890123456789", "0.5", "-12.25"}
		number, _ := new(big.Rat).SetString(numbers[r.IntN(len(numbers))])
		return value{kind: event.Number, number: number}
	case n < 7:
		return value{kind: event.String, text: nasty(r, 3)}
	}
	return value{kind: event.Null}
}

// spell writes v as JSON with random white space, member order, escapes and number spellings.
func (v value) spell(r *rand.Rand) string {
	space := func() string { return []string{"", "", " ", "\n\t"}[r.IntN(4)] }
	var parts []string
	for i, m := range v.members {
		part := space() + m.spell(r) + space()
		if v.kind == event.Object {
			part = space() + spellText(r, v.names[i]) + space() + ":" + part
		}
		parts = append(parts, part)
	}
	switch v.kind {
	case event.Object:
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{" + strings.Join(parts, ",") + space() + "}"
	case event.Array:
		return "[" + strings.Join(parts, ",") + space() + "]"
	case event.Number:
		return spellNumber(r, v.number)
	case event.String:
		return spellText(r, v.text)
	}
	return "null"
}

func spellText(r *rand.Rand, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c < 0x20 || c == '"' || c == '\\' || r.IntN(3) == 0:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], unit)
			}
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// spellNumber moves the point by a random power of ten and says so in the exponent.
func spellNumber(r *rand.Rand, n *big.Rat) string {
	shift := r.IntN(7) - 3
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	moved := new(big.Rat).Mul(n, power)
	if shift < 0 {
		moved = new(big.Rat).Quo(n, power)
	}
	plain := moved.FloatString(45)
	if r.IntN(2) == 0 {
		plain = strings.TrimSuffix(strings.TrimRight(plain, "0"), ".")
	}
	if shift == 0 && r.IntN(2) == 0 {
		return plain
	}
	exponent := fmt.Sprintf([]string{"%d", "%+d", "%03d", "%+05d"}[r.IntN(4)], -shift)
	return plain + []string{"e", "E"}[r.IntN(2)] + exponent
}

// The digest stays through every spelling of one payload and changes with every other change.
func TestDigestOfEverySpelling(t *testing.T) {
	r := seeded(t)
	seen := map[event.Digest]string{} // digest -> the twin's text
	for range 4_000 {
		v := someValue(r, 3)
		if v.kind != event.Object {
			continue
		}
		first := v.spell(r)
		want := Digest("t", root(t, first), nil)
		twin := v.canonical()
		for range 3 {
			again := v.spell(r)
			if Digest("t", root(t, again), nil) != want {
				t.Fatalf("one payload, two digests:\n%s\n%s", first, again)
			}
		}
		if before, taken := seen[want]; taken && before != twin {
			t.Fatalf("two payloads, one digest:\n%s\n%s", before, twin)
		}
		seen[want] = twin
		if sha256.Sum256(Canonical(nil, root(t, first), nil)) == want {
			t.Fatal("the type is not in the digest")
		}
	}
	if len(seen) < 500 {
		t.Errorf("only %d different payloads", len(seen))
	}
}

// canonical is a naive injective text of v: names sorted by bytes, everything length-prefixed.
func (v value) canonical() string {
	switch v.kind {
	case event.Number:
		return "n" + v.number.RatString()
	case event.String:
		return fmt.Sprintf("s%q", v.text)
	case event.Null:
		return "null"
	}
	var parts []string
	for i, m := range v.members {
		part := m.canonical()
		if v.kind == event.Object {
			part = fmt.Sprintf("%q:%s", v.names[i], part)
		}
		parts = append(parts, fmt.Sprintf("%d(%s)", len(part), part))
	}
	if v.kind == event.Object {
		slices.Sort(parts)
	}
	return v.kind.String() + strings.Join(parts, "")
}
