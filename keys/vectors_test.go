package keys

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
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
	dec := json.NewDecoder(bytes.NewReader(must.Read(t, "testdata/vectors.json")))
	dec.DisallowUnknownFields()
	var v vectorFile
	must.Succeed(t, dec.Decode(&v))
	if _, err := dec.Token(); err != io.EOF || v.Version != 1 {
		t.Fatalf("version %d, then %v", v.Version, err)
	}
	return &v
}

func (e *vectorEvent) source(t *testing.T) *Source {
	t.Helper()
	s := &Source{Data: root(t, e.Payload), Type: e.Type, ID: e.ID, Source: e.Source, Attributes: e.Attributes, Secret: []byte(e.Secret)}
	if e.At != "" {
		at, err := ParseTime(e.At)
		must.Succeed(t, err)
		s.At, s.HasAt = at, true
	}
	if e.Digest != "" {
		digest := unhex(t, e.Digest)
		must.Equal(t, len(digest), len(s.Digest))
		s.Digest = event.Digest(digest)
	}
	return s
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	must.Succeed(t, err)
	return b
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
		must.Succeed(tb, err)
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
		must.Equal(t, string(DigestText(nil, c.Type, payload, ignore)), c.Text, c.Name)
		must.Equal(t, Digest(c.Type, payload, ignore).String(), c.SHA256, c.Name)
	}
	for _, c := range v.Undecodable {
		raw := unhex(t, c.PayloadHex)
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
	must.Equal(t, s.Digest, Digest(s.Type, s.Data, nil))
	used := map[string]bool{}
	for _, c := range v.Keys {
		template := compiled(t, c.Template)
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
		at, err := compiled(t, c.Template).Time(s)
		c.judge(t, c.Template, FormatTime(at), c.Time, err)
	}
}

func TestVectorsOfChecks(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Checks {
		must.Equal(t, SecretCheck([]byte(c.Secret), c.Name), c.Check, c.Name, c.Secret)
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
		text, err := compiled(t, template).Expand(&Source{ID: value, Secret: secret})
		must.Succeed(t, err)
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
			key := unhex(t, text)
			if again, err := compiled(t, "{@id | hmac}").Expand(&Source{ID: "x", Secret: key}); err != nil ||
				again == expand("{@id | hmac:a}", "x") {
				t.Errorf("%s of %q is the key of the label a: %v", template, value, err)
			}
		}
	}
	for _, bad := range []string{"", " ", "a b", "a:b", "é", strings.Repeat("x", 65)} {
		_, err := ParseTemplate("{@id | hmac:" + bad + "}")
		must.Fail(t, err, "hmac:email")
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
			template := compiled(t, c.Template)
			a, errA = template.Expand(c.A.source(t))
			b, errB = template.Expand(c.B.source(t))
			must.Succeed(t, errors.Join(errA, errB))
		default:
			t.Fatalf("%s: a pair of %q", c.Name, c.Of)
		}
		must.Equal(t, a == b, c.Same, c.Name, a, b)
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
	must.Equal(t, len(slices.Compact(slices.Clone(names))), len(names))
}
