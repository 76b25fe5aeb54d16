package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func FuzzCanonical(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{
		order, `{}`, `{"b":1.0,"a":[1e0,-0,"\u00e9"],"\ud83d\ude00":null,"\ufb33":true}`, ` [ "\/\b\u001f\u007f" , 1e400, 0.10 ] `,
		`{"a":{"b":{"c":[{}]}},"A":"x"}`, `123456789012345678901234567890123456789.5e-3`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := event.ParseDocument(src)
		if err != nil {
			return
		}
		text := string(Canonical(nil, d.Root(), nil))
		again, err := event.ParseDocument(text)
		if err != nil {
			t.Fatalf("%q: the canonical form %q is not strict JSON: %v", src, text, err)
		}
		if twice := string(Canonical(nil, again.Root(), nil)); twice != text {
			t.Fatalf("%q: the canonical form %q is not its own: %q", src, text, twice)
		}
		if !alike(d.Root(), again.Root()) {
			t.Fatalf("%q: the canonical form %q says something else", src, text)
		}
		var indented bytes.Buffer
		must.Succeed(t, json.Indent(&indented, []byte(src), " ", "\t"))
		if wide, err := event.ParseDocument(indented.String()); err != nil || string(Canonical(nil, wide.Root(), nil)) != text {
			t.Fatalf("%q: white space changes the canonical form (%v)", src, err)
		}
	})
}

// alike compares what two values mean, and whether b's members are in order.
func alike(a, b event.Node) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case event.Number:
		x, errA := a.Decimal()
		y, errB := b.Decimal()
		return errA == nil && errB == nil && x == y
	case event.Array:
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case event.Object:
		var names [][]uint16
		for name, value := range b.Members() {
			names = append(names, utf16.Encode([]rune(name)))
			if !alike(a.Member(name), value) {
				return false
			}
		}
		return slices.IsSortedFunc(names, slices.Compare)
	}
	return a.Text() == b.Text()
}

func TestCompareUTF16(t *testing.T) {
	names := []string{"", "\x00", "1", "a", "ab", "b", "\u0080", "\u00f6", "\u07ff", "\u0800", "\u20ac", "\ud7ff", "\U00010000",
		"\U0001f600", "\U0010ffff", "\ue000", "\ufb33", "\uffff", "a\ue000", "a\U00010000", "\U0001f600\ue000", "\U0001f600\U00010000"}
	for _, a := range names {
		for _, b := range names {
			want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
			got := compareUTF16(a, b)
			if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("%q against %q is %d, want %d", a, b, got, want)
			}
		}
	}
}

func FuzzTemplate(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{
		"MERCHANT#{merchant_id}", "{@at | time | rev}#{@id}", `{["odd.name"] | trim | first:3}#`, "{n | pad:20 | rev}#{s | hmac}",
		"{@at | day}#{@id | shard:8 | pad:2}",
		"{s | sha256:8}", "{a[1].b}", "{", "}", "{a|}", "{@attribute.x-y | lower}", "{ms | unixms}", `{["x}|"]}`,
	} {
		f.Add(s, "a#b%\x00é")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		template, err := ParseTemplate(text)
		if err != nil {
			var mistake *TemplateError
			if !errors.As(err, &mistake) || mistake.Offset < 0 || mistake.Offset > len(text) || mistake.What == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		checkTemplate(t, template, value)
	})
}

func checkTemplate(t *testing.T, template *Template, value string) {
	t.Helper()
	if !utf8.ValidString(value) {
		return
	}
	quoted := string(appendString(nil, value))
	s := &Source{
		Data: root(t, `{"merchant_id":`+quoted+`,"s":`+quoted+`,"n":42,"a":[0,{"b":`+quoted+`}],"odd.name":`+quoted+`,"ms":1.5}`),
		Type: "t", ID: value, HasAt: true, At: time.Unix(1709647651, 5), Attributes: map[string]string{"x-y": value}, Secret: []byte("k"),
	}
	key, err := template.Expand(s)
	var missing *Missing
	var refusal *event.Refusal
	switch {
	case err != nil && !errors.As(err, &missing) && (!errors.As(err, &refusal) || refusal.Verdict != event.Poison):
		t.Fatalf("%q: %#v", template.Text(), err)
	case err != nil:
		return
	case !utf8.ValidString(key):
		t.Fatalf("%q makes %q", template.Text(), key)
	}
	literals := 0
	for _, p := range template.Parts() {
		literals += strings.Count(p.Literal, "#")
	}
	if strings.Count(key, "#") != literals {
		t.Fatalf("%q makes %q: a # that is not the template's own", template.Text(), key)
	}
	if again, err := ParseTemplate(template.Text()); err != nil || again.Text() != template.Text() {
		t.Fatalf("%q: %v", template.Text(), err)
	}
	if _, err := template.Time(s); err != nil && !errors.As(err, &missing) && !errors.As(err, &refusal) {
		t.Fatalf("%q as a time: %#v", template.Text(), err)
	}
}

func FuzzParseTime(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{"2024-03-05T14:07:31.123Z", "1969-12-31T23:30:00-01:00", "9999-12-31T23:59:59.999999999z",
		"2024-02-30T00:00:00Z", "", "+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseTime(s)
		if err != nil {
			return
		}
		if again, err := ParseTime(FormatTime(at)); err != nil || !again.Equal(at) ||
			len(FormatTime(at)) != len("2006-01-02T15:04:05.000000000Z") {
			t.Fatalf("%q, written %q, is read back as %v, %v", s, FormatTime(at), again, err)
		}
	})
}

// What is read as a time of mail is the same instant to the standard library.
func FuzzMailTime(f *testing.F) {
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, s string) {
		at, err := parseMailTime([]byte(s))
		if err != nil {
			return
		}
		words := strings.Fields(s)
		for i, word := range words { // the library takes most names of zones for ones that it does not know
			if offset, known := zones[word]; known {
				words[i] = offset
			}
		}
		s = strings.Join(words, " ")
		if want, err := mail.ParseDate(s); err != nil || !want.Equal(at) {
			t.Fatalf("%q is read as %v, and by the standard library as %v, %v", s, at, want, err)
		}
	})
}

// A payload whose every number is huge still has a digest, in time.
func TestCanonicalFormOfLongNumbers(t *testing.T) {
	long := strings.Repeat("7", 1<<19)
	got := string(Canonical(nil, root(t, `[`+long+`,0.`+long+`]`), nil))
	if got != "["+long+"e0,"+long+"e-524288]" {
		t.Errorf("%d bytes", len(got))
	}
}

// An ignored path with [] leaves a member out of every element, however many there are.
func TestIgnoredInEveryElement(t *testing.T) {
	path, err := event.ParseEvery("a[].b[].x")
	must.Succeed(t, err)
	for from, want := range map[string]string{
		`{"x":1,"a":[{"x":1,"b":[{"x":1,"y":2},{"x":2}]},{"b":{"x":3}},4,{"b":[[{"x":5}],{"y":6}]}]}`: "" +
			`{"a":[{"b":[{"y":2},{}],"x":1},{"b":{"x":3}},4,{"b":[[{"x":5}],{"y":6}]}],"x":1}`,
		`{"a":[` + strings.Repeat(`{"b":[{"x":1,"y":2}]},`, 20) + `0]}`: `{"a":[` + strings.Repeat(`{"b":[{"y":2}]},`, 20) + `0]}`,
	} {
		must.Equal(t, string(Canonical(nil, root(t, from), []event.Path{path})), want)
	}
}
