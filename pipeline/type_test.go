package pipeline

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
)

// typed returns a file with these event types and this type.
func typed(typ string, names ...string) string {
	text := "ingot: 1\nepoch: 1\ntype: " + typ + "\nevents:\n"
	for _, name := range names {
		text += "  " + name + ": {id: \"{n}\", at: \"{t}\", key: {pk: \"" + name + "#{n}\", sk: \"-\"}}\n"
	}
	return text
}

// GitHub's webhooks put the event in a header and the action in the payload. Some have no action.
func TestTypeFromSeveralFields(t *testing.T) {
	p := mustLoad(t, typed(`["{@attribute.event}.{action}", "{@attribute.event}", "{kind}{suffix}", unknown]`, "issues.opened", "push",
		"AB", "unknown"))
	for body, want := range map[string]string{
		`{"event":"issues","action":"opened"}`:                 "issues.opened",
		`{"event":"push"}`:                                     "push",
		`{"event":"push","action":null}`:                       "push",
		`{"event":"push","action":""}`:                         "push",
		`{"kind":"A","suffix":"B"}`:                            "AB",
		`{"kind":"A"}`:                                         "unknown",
		`{"event":"issues","action":"closed"}`:                 `(unknown-type): there is no event type "issues.closed" in the pipeline`,
		`{"event":"issues","action":{"is":1}}`:                 "(wrong-type): type: field action is an object",
		`{"event":"issues","action":"opened","kind":{"is":1}}`: "issues.opened",
	} {
		m := envelope.Message{Body: strings.Replace(body, "{", `{"n":1,"t":"2026-03-01T00:00:00Z",`, 1)}
		if _, rest, has := strings.Cut(body, `"event":"`); has {
			name, _, _ := strings.Cut(rest, `"`)
			m.Attributes = map[string]string{"event": name}
		}
		item, err := p.Plan(m)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = item.Type
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	p = mustLoad(t, typed(`["{event}.{action}", "{event}"]`, "issues.opened", "push"))
	if _, err := p.Plan(envelope.Message{Body: `{"n":1}`}); err == nil || !strings.HasSuffix(err.Error(), "type: field event is missing") {
		t.Error(err)
	}
	p = mustLoad(t, typed(`["{event}", "{kind}"]`, "issues", "push"))
	if _, err := p.Plan(envelope.Message{Body: `{"n":1,"kind":null}`}); err == nil ||
		!strings.HasSuffix(err.Error(), "type: field event is missing, and field kind is null") {
		t.Error(err)
	}
}

// The result of `type` is compared with the declared names, so its variables need no # between
// them. Also, what a message says to write is accepted.
func TestTypeNeedsNoSeparators(t *testing.T) {
	for _, typ := range []string{`"{event}.{action}"`, `"{event}{action}"`, `"{a}-{b}{c}"`} {
		mustLoad(t, typed(typ, "issues.opened", "x-yz"))
	}
	for _, c := range []struct{ typ, want, written string }{
		{`["{event}", "{event}.{action}"]`,
			"p.yaml:3:19: type[1] never decides: type[0] is tried before it and needs no other field; write it before type[0]",
			`["{event}.{action}", "{event}"]`},
		{`["{a}{b}", "{b}{a}"]`, "type[1] never decides: type[0] is tried before it and needs no other field; write one of the two",
			`["{a}{b}"]`},
		{`[push, "{event}"]`, "type[1] never decides: type[0] is tried before it and needs no other field; write it before type[0]",
			`["{event}", push]`},
		{`["{event}", event]`, `p.yaml:3:19: there is no event type event; write one of pull, pull.closed, push`, `["{event}"]`},
		{`["{event}", "x#{action}"]`,
			"p.yaml:3:19: type can never be one of the declared event types, whatever an event says; write a field that holds",
			`["{event}", "{action}"]`},
		{`[]`, "p.yaml:3:7: type is an empty list; write a text, or a list with one in it", `"{event}"`},
		{`[{a: b}]`, `type[0] is a mapping, not text; write it in quotes, as in "{order_id}"`, `["{a}"]`},
		{`["{a}", ""]`, "type[1] is empty; write text, or leave type[1] out", `["{a}"]`},
		{`["{a}\n{b}"]`, "type[0] has several lines; write one line", `["{a}", "{b}"]`},
		{`["{@digest}"]`,
			`type[0] cannot use @digest; write a field that holds pull, pull.closed or push, such as "{type}"`, `["{type}"]`},
	} {
		refused(t, typed(c.typ, "push", "pull", "pull.closed"), c.want)
		mustLoad(t, typed(c.written, "push", "pull", "pull.closed"))
	}
}
