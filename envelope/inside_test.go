package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// batchOf is a place of events, and what they take of the objects around them: NAME=PATH.
func batchOf(t *testing.T, each string, with ...string) Batch {
	t.Helper()
	path := func(text string) event.Path {
		p, err := event.ParseEvery(text)
		must.Succeed(t, err)
		return p
	}
	b := Batch{Each: path(each)}
	for _, w := range with {
		name, text, _ := strings.Cut(w, "=")
		b.With = append(b.With, With{name, path(text)})
	}
	return b
}

func optional(b Batch) Batch {
	b.Optional = true
	return b
}

// opened returns what the events of a message are, a line for each: where it stands, and its
// payload or why it has none.
func opened(t *testing.T, body string, batches ...Batch) string {
	t.Helper()
	one, list, err := OpenAll(Message{Body: body, Attributes: map[string]string{"tenant": "a"}}, batches)
	var refusal *event.Refusal
	switch {
	case errors.As(err, &refusal):
		return fmt.Sprintf("%s %s", refusal.Verdict, refusal.Reason)
	case list == nil:
		return one.Data.Text()
	}
	var lines []string
	for _, m := range list {
		opened, err := Open(m)
		text := opened.Data.Text()
		if errors.As(err, &refusal) {
			text = fmt.Sprintf("%s %s: %s", refusal.Verdict, refusal.Reason, refusal.Detail)
		} else if opened.ID == "" {
			must.Equal(t, opened.Attributes["tenant"], "a")
		}
		lines = append(lines, m.Place().String()+" "+text)
	}
	return strings.Join(lines, "\n")
}

// Events are found wherever the file says that they are, in the order of the document, and each has
// the values of the objects around it.
func TestOpenInside(t *testing.T) {
	records := batchOf(t, "Records")
	statuses := batchOf(t, "entry[].changes[].value.statuses", "account=entry[].id")
	texts := batchOf(t, "entry[].changes[].value.messages", "account=entry[].id")
	for name, c := range map[string]struct {
		body    string
		batches []Batch
		want    string
	}{
		"one array":      {`{"Records":[{"a":1},{"a":2}]}`, []Batch{records}, "Records[0] {\"a\":1}\nRecords[1] {\"a\":2}"},
		"does not begin": {`{"Event":"s3:TestEvent"}`, []Batch{records}, `{"Event":"s3:TestEvent"}`},
		"to a text":      {`{"Records":"x"}`, []Batch{records}, "Poison no-events"},
		"to null":        {`{"Records":null}`, []Batch{records}, "Poison no-events"},
		"optional":       {`{"Records":null}`, []Batch{optional(records)}, "Dropped no-events"},
		"empty":          {`{"Records":[]}`, []Batch{records}, "Poison bad-array"},
		"not objects": {`{"Records":[7,{"a":1}]}`, []Batch{records},
			"Records[0] Poison not-an-object: it is a number; a payload must be a JSON object\nRecords[1] {\"a\":1}"},
		"the whole message": {`[{"a":1}]`, []Batch{records, {}}, `[0] {"a":1}`},
		"only inside":       {`[{"a":1}]`, []Batch{records}, "Poison not-an-object"},
		"both kinds, in the order of the document": {
			`{"entry":[{"changes":[{"value":{"messages":[{"m":1}],"statuses":[{"s":1}]}}],"id":"A"},{"id":"B","changes":[{"value":{"statuses":[{"s":2},{"s":3}]}}]}]}`,
			[]Batch{statuses, texts}, `entry[0].changes[0].value.messages[0] {"account":"A","m":1}
entry[0].changes[0].value.statuses[0] {"account":"A","s":1}
entry[1].changes[0].value.statuses[0] {"account":"B","s":2}
entry[1].changes[0].value.statuses[1] {"account":"B","s":3}`},
		"an object without any": {
			`{"entry":[{"id":"A","changes":[{"value":{"field":"x"}},{"value":{"statuses":[{}]}},{"value":{"statuses":[]}}]},{"id":"B"}]}`,
			[]Batch{statuses, texts},
			`entry[0].changes[0] Poison no-events: entry[0].changes[0] has no array of events: none at value.statuses or value.messages
entry[0].changes[1].value.statuses[0] {"account":"A"}
entry[1] Poison no-events: entry[1] has no array of events: none at changes[].value.statuses or changes[].value.messages`},
		"an optional object without any": {`{"entry":[{"changes":[{"value":7}]},{"changes":[{"value":{"statuses":[{"s":1}]}}]}]}`,
			[]Batch{optional(statuses)},
			`entry[0].changes[0] Dropped no-events: entry[0].changes[0] has no array of events: none at value.statuses
entry[1].changes[0].value.statuses[0] {"s":1}`},
		"optional in one of two": {`{"entry":[{"changes":[{"value":{}},{"value":{"messages":[{}]}}]}]}`, []Batch{optional(statuses), texts},
			`entry[0].changes[0] Poison no-events: entry[0].changes[0] has no array of events: none at value.statuses or value.messages
entry[0].changes[1].value.messages[0] {}`},
		"with what cannot be taken": {
			`{"entry":[{"id":[1],"changes":[{"value":{"statuses":[{},{}]}}]},{"id":null,"changes":[{"value":{"statuses":[{"account":1},{"x":true}]}}]}]}`,
			[]Batch{statuses},
			`entry[0].changes[0].value.statuses[0] Poison wrong-type: entry[0].id is an array, and with takes text, numbers, true, false and null
entry[0].changes[0].value.statuses[1] Poison wrong-type: entry[0].id is an array, and with takes text, numbers, true, false and null
entry[1].changes[0].value.statuses[0] Poison parts-clash: it has a member account, and with gives it entry[].id under that name: choose another name
entry[1].changes[0].value.statuses[1] {"account":null,"x":true}`},
		"a CloudEvent": {`{"specversion":"1.0","id":"e","source":"/s","type":"t","data":{"Records":[{"a":1}]}}`, []Batch{records},
			`Records[0] {"a":1}`},
		"CloudEvents": {`{"shop":"x","Records":[{"specversion":"1.0","id":"e","source":"/s","type":"t","data":{ "a":1}}]}`,
			[]Batch{batchOf(t, "Records", "shop=shop")}, `Records[0] {"shop":"x","a":1}`},
		"an SNS notification": {object(snsMembers(`{"Records":[{"a":1}]}`, "{}")...), []Batch{records}, `Records[0] {"a":1}`},
		"an array of arrays": {`{"Records":[[{"a":1}]]}`, []Batch{records},
			"Records[0] Poison not-an-object: it is an array; a payload must be a JSON object"},
	} {
		must.Equal(t, opened(t, c.body, c.batches...), c.want, name)
	}
}

// An event inside an envelope has all of it but the id.
func TestOpenInsideAnEnvelope(t *testing.T) {
	body := object(replaced(eventBridgeMembers, "detail", `{"Records":[{"a":1}]}`)...)
	alone := mustOpen(t, Message{Body: body})
	around, list, err := OpenAll(Message{Body: body}, []Batch{batchOf(t, "Records")})
	must.Succeed(t, err)
	one := mustOpen(t, list[0])
	if around.ID != alone.ID || one.ID != "" || one.Type != alone.Type || one.Source != alone.Source || !one.At.Equal(alone.At) ||
		one.Kind != alone.Kind {
		t.Errorf("%+v in %+v, alone %+v", one, around, alone)
	}
}

// A message of a thousand events is opened, and one of more is not. Neither is one whose events
// take too much of the objects around them.
func TestOpenInsideLimits(t *testing.T) {
	repeat := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	entry := func(n int) string { return `{"list":[` + repeat("{}", n) + "]}" }
	b := batchOf(t, "entry[].list", "note=note")
	for body, want := range map[string]string{
		`{"entry":[` + entry(600) + "," + entry(400) + "]}":                                            "",
		`{"entry":[` + entry(600) + "," + entry(401) + "]}":                                            "Poison bad-array",
		`{"entry":[` + repeat("{}", 2000) + "]}":                                                       "Poison bad-array",
		`{"entry":[` + repeat(`{"list":[]}`, 2000) + "," + entry(1) + "]}":                             "",
		`{"note":"` + strings.Repeat("x", 4000) + `","entry":[` + entry(1000) + "]}":                   "",
		`{"note":"` + strings.Repeat("x", 4300) + `","entry":[` + entry(500) + "," + entry(500) + "]}": "Poison bad-array",
	} {
		if got := opened(t, body, b); (want == "") == strings.HasPrefix(got, "Poison") || want != "" && got != want {
			t.Errorf("%.60s of %d bytes: %.80s, want %s", body, len(body), got, want)
		}
	}
}

// FuzzInside holds OpenAll to a plain reading by encoding/json: the same events with the same
// values around them, in the same order, whatever the document is.
func FuzzInside(f *testing.F) {
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, body string) {
		if !json.Valid([]byte(body)) || strings.Contains(body, "specversion") || strings.Contains(body, "version") ||
			strings.Contains(body, "TopicArn") {
			return
		}
		_, list, err := OpenAll(Message{Body: body},
			[]Batch{batchOf(t, "entry[].changes[].s", "id=entry[].id"), batchOf(t, "entry[].changes[].m", "id=entry[].id")})
		if err != nil || list == nil {
			return
		}
		var got []string
		for _, m := range list {
			got = append(got, m.Place().String())
		}
		var want []string
		doc, err := event.ParseDocument(body)
		must.Succeed(t, err)
		i := 0
		for entry := range doc.Root().Member("entry").Elements() {
			place := fmt.Sprintf("entry[%d]", i)
			i++
			changes := entry.Member("changes")
			if changes.Kind() != event.Array {
				want = append(want, place)
				continue
			}
			for j := range changes.Len() {
				place, found := fmt.Sprintf("%s.changes[%d]", place, j), false
				for name, value := range changes.Index(j).Members() {
					if (name == "s" || name == "m") && value.Kind() == event.Array {
						found = true
						for k := range value.Len() {
							want = append(want, fmt.Sprintf("%s.%s[%d]", place, name, k))
						}
					}
				}
				if !found {
					want = append(want, place)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s holds\n%v, want\n%v", body, got, want)
		}
		for _, m := range list {
			root := doc.Root().At(m.Place().Path())
			if opened, err := Open(m); err == nil && opened.Data.Root().Len() != root.Len() && opened.Data.Root().Len() != root.Len()+1 {
				t.Fatalf("%s at %s is opened as %s", body, m.Place(), opened.Data.Text())
			}
		}
	})
}
