package pipeline

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
)

// revised returns a file of one type under mode latest with this revision.
func revised(revision string) string {
	return "ingot: 1\nepoch: 1\ntype: a\nevents:\n  a:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"{n}\", sk: \"-\"}\n    mode: latest\n    ignore: [trace]\n    revision: " + revision + "\n"
}

func TestRevisionLists(t *testing.T) {
	const three = "[updated_at time, seq number, checked_at time]"
	for _, c := range []struct{ revision, fields, want string }{
		{"seq number", `"seq":12`, "12 "},
		{"[seq number]", `"seq":12`, "12 "},
		{three, `"updated_at":"1970-01-01T00:00:00.000000007Z","seq":12,"checked_at":"1970-01-01T00:00:01Z"`, "7 350112,35091"},
		{three, `"updated_at":"1970-01-01T00:00:00.000000007Z","seq":null`, "7 0,0"},
		{three, `"updated_at":"1970-01-01T00:00:00.000000007Z","seq":-1`, "7 15008~,0"},
		{three, `"seq":1`, "Poison (missing-field): revision: field updated_at is missing"},
		{three, `"updated_at":null,"seq":1`, "Poison (missing-field): revision: field updated_at is missing"},
		{three, `"updated_at":"1970-01-01T00:00:00Z","seq":"1"`,
			"Poison (wrong-type): revision: field seq is a string, and the pipeline declares seq number"},
		{three, `"updated_at":"1970-01-01T00:00:00Z","checked_at":"now"`, `Poison (bad-time): revision: "now" is not`},
		{three, `"updated_at":"1970-01-01T00:00:00Z","seq":1e200`, "Poison (number-range): revision: field seq "},
	} {
		p := mustLoad(t, revised(c.revision))
		item, err := p.Plan(envelope.Message{Body: `{"n":1,"t":"2026-03-01T00:00:00Z",` + c.fields + `}`})
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.fields, err, c.want)
			}
			continue
		}
		if got := item.Revision.String() + " " + item.Ties; got != c.want {
			t.Errorf("%s: %s, want %s", c.fields, got, c.want)
		}
		if shown := p.Describe().Revision(item); c.fields == `"updated_at":"1970-01-01T00:00:00.000000007Z","seq":-1` &&
			shown != "7, -1, missing" {
			t.Errorf("%s: %s is shown", c.fields, shown)
		}
		if again, err := p.Ties("a", item.Data); err != nil || again != item.Ties {
			t.Errorf("%s: the stored payload says %q, %v", c.fields, again, err)
		}
	}
	p := mustLoad(t, revised(three))
	for _, odd := range [][2]string{{"b", "{}"}, {"a", "["}, {"a", "[]"}, {"a", `{"seq":"x"}`}} {
		if ties, err := p.Ties(odd[0], odd[1]); err == nil {
			t.Errorf("%q: %q", odd, ties)
		}
	}
}

func TestMistakesInRevisionLists(t *testing.T) {
	for _, c := range []struct{ revision, want, written string }{
		{"[a time, b]",
			`p.yaml:11:24: "b" does not say its type; write a path and its type, such as updated_at time or seq number`,
			"[a time, b number]"},
		{"[a time, a number]", "p.yaml:11:24: revision[1] breaks no ties: a stands before it; write another field",
			"[a time, b number]"},
		{"[a time, trace.id number]",
			"p.yaml:11:24: revision[1] uses trace.id, which ignore leaves out of the digest of a; write another field",
			"[a time, id number]"},
		{"[]", "p.yaml:11:15: revision is an empty list; write a text, or a list with one in it", "a time"},
	} {
		_, err := loadText(revised(c.revision))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.revision, err, c.want)
		}
		mustLoad(t, revised(c.written))
	}
}
