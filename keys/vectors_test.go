package keys

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
)

// vectorFile is testdata/vectors.json; testdata/README.md explains it.
type vectorFile struct {
	Version     int            `json:"version"`
	Event       vectorEvent    `json:"event"`
	Numbers     []vectorNumber `json:"numbers"`
	Times       []vectorTime   `json:"times"`
	Undecodable []struct {
		Name       string  `json:"name"`
		Payload    *string `json:"payload"`
		PayloadHex string  `json:"payload_hex"`
	} `json:"undecodable"`
	Digests []struct {
		Name string `json:"name"`
		vectorEvent
		Ignore []string `json:"ignore"`
		Text   string   `json:"text"`
		SHA256 string   `json:"sha256"`
	} `json:"digests"`
	Keys []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
		Text     string `json:"text"`
		vectorFailure
	} `json:"keys"`
	Instants []struct {
		Template string `json:"template"`
		Time     string `json:"time"`
		vectorFailure
	} `json:"instants"`
	Checks []struct {
		Secret string `json:"secret"`
		Name   string `json:"name"`
		Check  string `json:"check"`
	} `json:"checks"`
	Pairs []vectorPair `json:"pairs"`
}

type vectorEvent struct {
	Payload    string            `json:"payload"`
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	Source     string            `json:"source"`
	At         string            `json:"at"`
	Digest     string            `json:"digest"`
	Attributes map[string]string `json:"attributes"`
	Secret     string            `json:"secret"`
}

type vectorNumber struct {
	Literal string `json:"literal"`
	Text    string `json:"text"`
}

type vectorTime struct {
	Text  string `json:"text"`
	Time  string `json:"time"`
	Error string `json:"error"`
}

type vectorFailure struct {
	Missing bool   `json:"missing"`
	Poison  string `json:"poison"`
}

type vectorPair struct {
	Name     string      `json:"name"`
	Of       string      `json:"of"`
	Same     bool        `json:"same"`
	Template string      `json:"template"`
	Ignore   []string    `json:"ignore"`
	A        vectorEvent `json:"a"`
	B        vectorEvent `json:"b"`
}

func readVectors(t *testing.T) *vectorFile {
	t.Helper()
	file, err := os.Open("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dec := json.NewDecoder(file)
	dec.DisallowUnknownFields()
	var v vectorFile
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); err != io.EOF || v.Version != 1 {
		t.Fatalf("version %d, then %v", v.Version, err)
	}
	return &v
}

func (e *vectorEvent) source(t *testing.T) *Source {
	t.Helper()
	s := &Source{Data: root(t, e.Payload), Type: e.Type, ID: e.ID, Source: e.Source, Attributes: e.Attributes, Secret: []byte(e.Secret)}
	var err error
	if e.At != "" {
		s.HasAt = true
		if s.At, err = ParseTime(e.At); err != nil {
			t.Fatal(err)
		}
	}
	if e.Digest != "" {
		digest, err := hex.DecodeString(e.Digest)
		if err != nil || len(digest) != len(s.Digest) {
			t.Fatalf("digest %q: %v", e.Digest, err)
		}
		s.Digest = event.Digest(digest)
	}
	return s
}

func root(tb testing.TB, payload string) event.Node {
	tb.Helper()
	d, err := event.ParseDocument(payload)
	if err != nil {
		tb.Fatalf("%s: %v", payload, err)
	}
	return d.Root()
}

func paths(tb testing.TB, texts []string) []event.Path {
	tb.Helper()
	var list []event.Path
	for _, s := range texts {
		p, err := event.ParsePath(s)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// judge compares what a template gave with what the vector says.
func (f vectorFailure) judge(t *testing.T, name, got, want string, err error) {
	t.Helper()
	var missing *Missing
	var refusal *event.Refusal
	switch {
	case f.Missing:
		if !errors.As(err, &missing) {
			t.Errorf("%s: %q, %v, want missing", name, got, err)
		}
	case f.Poison != "":
		if !errors.As(err, &refusal) || refusal.Verdict != event.Poison || string(refusal.Reason) != f.Poison {
			t.Errorf("%s: %q, %v, want Poison (%s)", name, got, err, f.Poison)
		}
	case err != nil || got != want || want == "":
		t.Errorf("%s: %q, %v, want %q", name, got, err, want)
	}
}

func TestVectorsOfNumbersAndTimes(t *testing.T) {
	v := readVectors(t)
	for _, n := range v.Numbers {
		if d, err := event.ParseDecimal(n.Literal); err != nil || d.String() != n.Text {
			t.Errorf("%s: %s, %v, want %s", n.Literal, d, err, n.Text)
		}
	}
	for _, c := range v.Times {
		at, err := ParseTime(c.Text)
		switch {
		case c.Error != "" && err == nil:
			t.Errorf("%s is read as %s", c.Text, FormatTime(at))
		case c.Error == "" && (err != nil || FormatTime(at) != c.Time || at.Location() != time.UTC):
			t.Errorf("%s: %s, %v, want %s", c.Text, FormatTime(at), err, c.Time)
		}
	}
}

func TestVectorsOfDigests(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Digests {
		payload, ignore := root(t, c.Payload), paths(t, c.Ignore)
		if got := string(DigestText(nil, c.Type, payload, ignore)); got != c.Text {
			t.Errorf("%s: text\n%s, want\n%s", c.Name, got, c.Text)
		}
		if got := Digest(c.Type, payload, ignore).String(); got != c.SHA256 {
			t.Errorf("%s: %s, want %s", c.Name, got, c.SHA256)
		}
	}
	for _, c := range v.Undecodable {
		raw, err := hex.DecodeString(c.PayloadHex)
		if err != nil {
			t.Fatal(err)
		}
		if c.Payload != nil {
			raw = []byte(*c.Payload)
		}
		if _, err := event.ParseDocument(string(raw)); err == nil {
			t.Errorf("%s: %q is decodable", c.Name, raw)
		}
	}
}

func TestVectorsOfKeys(t *testing.T) {
	v := readVectors(t)
	s := v.Event.source(t)
	if s.Digest != Digest(s.Type, s.Data, nil) {
		t.Errorf("the event's digest is %s", Digest(s.Type, s.Data, nil))
	}
	used := map[string]bool{}
	for _, c := range v.Keys {
		template := must(t, c.Template)
		got, err := template.Expand(s)
		c.judge(t, c.Name, got, c.Text, err)
		for _, p := range template.Parts() {
			for _, f := range p.Funcs {
				used[f.Name] = true
			}
		}
	}
	for _, f := range Functions() {
		if !used[f.Name] {
			t.Errorf("no vector uses %s", f.Name)
		}
	}
	for _, c := range v.Instants {
		at, err := must(t, c.Template).Time(s)
		c.judge(t, c.Template, FormatTime(at), c.Time, err)
	}
}

func TestVectorsOfChecks(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Checks {
		if got := SecretCheck([]byte(c.Secret), c.Name); got != c.Check {
			t.Errorf("%s of %s: %s, want %s", c.Name, c.Secret, got, c.Check)
		}
	}
	if len(v.Checks) < 2 {
		t.Errorf("%d check values", len(v.Checks))
	}
}

// What plain hmac stores of a field never is the key that a label derives, whatever the field
// holds: else who reads the table could compute the hashes of that label.
func TestLabelsHaveKeysOfTheirOwn(t *testing.T) {
	secret := []byte("a secret of sixteen bytes")
	expand := func(template, value string) string {
		text, err := must(t, template).Expand(&Source{ID: value, Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	seen := map[string]string{}
	for _, template := range []string{"{@id | hmac}", "{@id | hmac:a}", "{@id | hmac:b}", "{@id | hmac:A}"} {
		for _, value := range []string{"a", "hmac:a", "ingot hmac:a", string(secret)} {
			text := expand(template, value)
			if other, twice := seen[text]; twice {
				t.Errorf("%s of %q is %s too", template, value, other)
			}
			seen[text] = template + " of " + value
			key, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := must(t, "{@id | hmac}").Expand(&Source{ID: "x", Secret: key}); err != nil ||
				again == expand("{@id | hmac:a}", "x") {
				t.Errorf("%s of %q is the key of the label a: %v", template, value, err)
			}
		}
	}
	for _, bad := range []string{"", " ", "a b", "a:b", "é", strings.Repeat("x", 65)} {
		if _, err := ParseTemplate("{@id | hmac:" + bad + "}"); err == nil || !strings.Contains(err.Error(), "hmac:email") {
			t.Errorf("the label %q: %v", bad, err)
		}
	}
}

func TestVectorsOfPairs(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Pairs {
		var a, b string
		switch c.Of {
		case "digest":
			ignore := paths(t, c.Ignore)
			a, b = Digest(c.A.Type, root(t, c.A.Payload), ignore).String(), Digest(c.B.Type, root(t, c.B.Payload), ignore).String()
		case "key":
			var errA, errB error
			template := must(t, c.Template)
			a, errA = template.Expand(c.A.source(t))
			b, errB = template.Expand(c.B.source(t))
			if err := errors.Join(errA, errB); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		default:
			t.Fatalf("%s: a pair of %q", c.Name, c.Of)
		}
		if (a == b) != c.Same {
			t.Errorf("%s: %s and %s", c.Name, a, b)
		}
	}
}

func TestVectorsAreMany(t *testing.T) {
	v := readVectors(t)
	if n := len(v.Digests) + len(v.Keys) + len(v.Pairs); n < 60 {
		t.Errorf("%d vectors", n)
	}
	var names []string
	for _, c := range v.Keys {
		names = append(names, "key "+c.Name)
	}
	for _, c := range v.Digests {
		names = append(names, "digest "+c.Name)
	}
	for _, c := range v.Pairs {
		names = append(names, "pair of "+c.Of+"s "+c.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("two vectors have one name")
	}
}
