package pipeline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

func byPipeline(t testing.TB, by map[string]string) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"reading": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "R#{id}", SK: "R"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"sites": {Since: 1, By: by,
			From: map[string]pipeline.FromSpec{"reading": {Values: map[string]string{"readings": "count"}}}}}},
		pipeline.Secret([]byte("a key of the test's")))
	must.Succeed(t, err)
	return p
}

// TestBy checks that what By computes is, after escaping, what the stream counts under.
func TestBy(t *testing.T) {
	const device, whole = `{@type}`,
		`{"type":"reading","id":"r1","at":"2026-03-01T10:00:00Z","site":"North #1%23","device":"d\u0001é","n":1.50}`
	for name, c := range map[string]struct {
		by   map[string]string
		body string
		want map[string]string // of hmac only that it is not plain text
	}{
		"as it is":    {map[string]string{"site": "{site}"}, `{"site":"m1"}`, map[string]string{"site": "m1"}},
		"escaped":     {map[string]string{"site": "{site}"}, `{"site":"North #1%23"}`, map[string]string{"site": "North #1%23"}},
		"lower":       {map[string]string{"site": "{site | lower}"}, `{"site":"North #1"}`, map[string]string{"site": "north #1"}},
		"text around": {map[string]string{"site": "é{site}-x"}, `{"site":"\u0085#"}`, map[string]string{"site": "é\u0085#-x"}},
		"two": {map[string]string{"site": "{site | upper}", "device": "{device}"}, whole,
			map[string]string{"site": "NORTH #1%23", "device": "d\u0001é"}},
		"derived": {map[string]string{"kind": device, "site": "{@at | day}"}, whole,
			map[string]string{"kind": "reading", "site": "2026-03-01"}},
		"hmac":       {map[string]string{"device": "{device | hmac}"}, whole, nil},
		"without by": {nil, `{}`, map[string]string{}},
		"in an envelope": {map[string]string{"site": "{site}"},
			`{"specversion":"1.0","id":"1","source":"s","type":"e","data":{"site":"m1"}}`, map[string]string{"site": "m1"}},
		"of another type": {map[string]string{"site": "{site}"}, `{"type":"unknown","site":"m1"}`, map[string]string{"site": "m1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := byPipeline(t, c.by)
			got, err := p.By("sites", envelope.Message{Body: c.body})
			must.Succeed(t, err)
			if c.want != nil && !maps.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if name == "hmac" && (len(got["device"]) < 16 || strings.Contains(got["device"], "é")) {
				t.Errorf("hmac made %q", got["device"])
			}
			item, err := p.Plan(envelope.Message{Body: c.body})
			if err != nil {
				return // not a whole event
			}
			def, _ := p.Definition("sites")
			counted := p.Contributions(item).List[0].By
			for i, name := range def.By {
				if keys.Escape(got[name]) != counted[i] {
					t.Errorf("%s is %q, and it is counted under %q", name, got[name], counted[i])
				}
			}
		})
	}
}

func TestByRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		by, aggregate, body string
		reason              event.Reason
		words               string
	}{
		"no such aggregate": {"{site}", "plants", `{}`, "", `no aggregate "plants"`},
		"missing field": {"{site | lower}", "sites", `{"type":"reading"}`, event.MissingField,
			"aggregate sites, by site: field site is missing"},
		"empty field":             {"{site}", "sites", `{"site":""}`, event.MissingField, "field site is empty"},
		"a whole event is needed": {"{@at | day}", "sites", `{"type":"reading","id":"1"}`, event.MissingField, "field at is missing"},
		"not JSON":                {"{site}", "sites", `site`, event.Undecodable, ""},
		"not an object":           {"{site}", "sites", `[1]`, event.NotAnObject, "array"},
		"too long":                {"{site}", "sites", `{"site":"` + strings.Repeat("#", 700) + `"}`, event.KeyTooLong, "sites"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := byPipeline(t, map[string]string{"site": c.by}).By(c.aggregate, envelope.Message{Body: c.body})
			if err == nil || got != nil || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("got %q, %v; want %q", got, err, c.words)
			}
			var refusal *event.Refusal
			if errors.As(err, &refusal) != (c.reason != "") || refusal != nil && refusal.Reason != c.reason {
				t.Errorf("got %v, want reason %q", err, c.reason)
			}
		})
	}
}

// FuzzBy checks that every value comes back as it was, and that its escaped form is what the stream
// counts under.
func FuzzBy(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{"m1", "#", "%", "%2", "%23", "é\u0085\x7f", "\x00"} {
		f.Add(s)
	}
	p := byPipeline(f, map[string]string{"site": "{site}"})
	f.Fuzz(func(t *testing.T, site string) {
		body := fmt.Sprintf(`{"site":%s}`, quoted(site))
		got, err := p.By("sites", envelope.Message{Body: body})
		if err == nil && got["site"] != string([]rune(site)) {
			t.Errorf("%q came back as %q", site, got["site"])
		}
	})
}

// A total is read by values that functions may have made. By computes them.
func ExamplePipeline_By() {
	p, err := pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte("from INGOT_PII_KEY")))
	if err != nil {
		fmt.Println(err)
		return
	}
	by, err := p.By("customer_recent", envelope.Message{Body: `{"customer_id": "c1", "currency": "EUR"}`})
	fmt.Println(by["currency"], len(by["customer"]) > 2, err)

	_, err = p.By("customer_recent", envelope.Message{Body: `{"currency": "EUR"}`})
	fmt.Println(err)
	// Output:
	// EUR true <nil>
	// Poison (missing-field): aggregate customer_recent, by customer: field customer_id is missing
}

// quoted returns s as JSON. What is not UTF-8 becomes U+FFFD, byte by byte.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// If the template hashes a value or makes it lower case, a read with the event's own value is an
// error, not an empty answer.
func TestCheckBy(t *testing.T) {
	p := byPipeline(t, map[string]string{"site": "{site | lower}"})
	if err := p.CheckBy("sites", map[string]string{"site": "north"}); err != nil {
		t.Error(err)
	}
	for by, says := range map[string]string{"North": "site: \"North\" is not what {site | lower} makes, which is in lower case; Pipeline.By computes it"} {
		must.Fail(t, p.CheckBy("sites", map[string]string{"site": by}), says)
	}
	if err := p.CheckBy("site", nil); err == nil {
		t.Error("an aggregate that is not there")
	}
}
