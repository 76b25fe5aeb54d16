package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const several = `ingot: 1
epoch: 1
type: ["{metadata.topic}", "{@type}"]
drop: [ping, "customer.*", "*/deleted"]
batches:
  - {each: "entry[].list", with: {account: "entry[].id"}, optional: true}
  - {each: Records}
events:
  order: {id: "{o}", at: "{at}", key: {pk: "O#{o}", sk: "O"}}
`

// verdictOf returns the key of the item of a message, or its verdict and reason.
func verdictOf(p *Pipeline, m envelope.Message) string {
	item, list, err := p.PlanMessage(m)
	var refusal *event.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal.Verdict.String() + " " + string(refusal.Reason)
	case list == nil:
		return item.Key.String()
	}
	var all []string
	for _, one := range list {
		if one.Refusal != nil {
			all = append(all, one.Place.String()+" "+one.Refusal.Verdict.String()+" "+string(one.Refusal.Reason))
		} else {
			all = append(all, one.Place.String()+" "+one.Item.Key.String())
		}
	}
	return strings.Join(all, ", ")
}

// The type of an envelope is read where the file names it, and first where it does not. Types that
// nobody wants are dropped, and others that nobody declared are not.
func TestTypesAndDrop(t *testing.T) {
	p := mustLoad(t, several)
	first := mustLoad(t, strings.Replace(several, `["{metadata.topic}", "{@type}"]`, `"{metadata.topic}"`, 1))
	bridge := func(kind, detail string) envelope.Message {
		return envelope.Message{Body: `{"version":"0","id":"e","detail-type":"` + kind +
			`","source":"s","account":"1","time":"2026-03-01T09:00:00Z","region":"r","resources":[],"detail":` + detail + `}`}
	}
	order := func(topic string) string {
		return `{"metadata":{"topic":"` + topic + `"},"o":1,"at":"2026-03-01T09:00:00Z"}`
	}
	cloud := func(kind, data string) envelope.Message {
		return envelope.Message{Body: `{"specversion":"1.0","id":"e","source":"s","type":"` + kind + `"` + data + `}`}
	}
	binary := envelope.Message{Body: `[]`,
		Attributes: map[string]string{"ce-specversion": "1.0", "ce-id": "e", "ce-source": "s", "ce-type": "ping"}}
	for name, c := range map[string]struct {
		p    *Pipeline
		m    envelope.Message
		want string
	}{
		"of the payload":            {p, bridge("webhook", order("order")), "O#1 / O"},
		"of the envelope":           {p, bridge("order", `{"o":1,"at":"2026-03-01T09:00:00Z"}`), "O#1 / O"},
		"bare":                      {p, envelope.Message{Body: order("order")}, "O#1 / O"},
		"none":                      {p, envelope.Message{Body: `{"o":1}`}, "Poison missing-field"},
		"the envelope's goes first": {first, bridge("webhook", order("order")), "Poison unknown-type"},
		"dropped":                   {p, bridge("ping", `{}`), "Dropped unwanted"},
		"dropped by its beginning":  {p, bridge("customer.created", `{}`), "Dropped unwanted"},
		"dropped by its end":        {p, envelope.Message{Body: order("carts/deleted")}, "Dropped unwanted"},
		"not dropped":               {p, envelope.Message{Body: order("customers")}, "Poison unknown-type"},
		"several": {p, envelope.Message{Body: `{"Records":[` + order("ping") + `,` + order("order") + `,` + order("x") + `]}`},
			"Records[0] Dropped unwanted, Records[1] O#1 / O, Records[2] Poison unknown-type"},
		"dropped without data":      {p, cloud("ping", ""), "Dropped unwanted"},
		"dropped with text as data": {first, cloud("customer.x", `,"data":"x"`), "Dropped unwanted"},
		"dropped in attributes":     {p, binary, "Dropped unwanted"},
		"not dropped, without data": {p, cloud("order", ""), "Poison not-an-object"},
		"dropped without events":    {p, bridge("ping", `{"entry":[{"list":[]}]}`), "Dropped unwanted"},
		"dropped without an array":  {p, bridge("ping", `{"Records":7}`), "Dropped unwanted"},
		"one without data of several": {p, envelope.Message{Body: `{"Records":[` + cloud("ping", "").Body + `,` + order("order") + `]}`},
			"Records[0] Dropped unwanted, Records[1] O#1 / O"},
		"nothing where that is no mistake": {p, envelope.Message{Body: `{"entry":[{}]}`}, "entry[0] Dropped no-events"},
	} {
		if got := verdictOf(c.p, c.m); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A time that is not needed may be unreadable.
func TestTimeOfAnEnvelopeIsReadWhereItIsUsed(t *testing.T) {
	body := `{"specversion":"1.0","id":"e","source":"s","type":"order","time":"soon","data":{"o":1,"at":"2026-03-01T09:00:00Z"}}`
	must.Equal(t, verdictOf(mustLoad(t, several), envelope.Message{Body: body}), "O#1 / O")
	without := mustLoad(t, strings.Replace(several, ` at: "{at}",`, "", 1))
	must.Equal(t, verdictOf(without, envelope.Message{Body: body}), "Poison bad-time")
}

// The normal spelling of batches and drop loads to the same pipeline.
func TestSeveralInNormalForm(t *testing.T) {
	s := mustLoad(t, several).Describe().Spec
	if len(s.Batches) != 2 || s.Batches[0].Each != "entry[].list" ||
		s.Batches[0].With["account"] != "entry[].id" || !s.Batches[0].Optional ||
		s.Batches[1].Each != "Records" || strings.Join(s.Drop, " ") != "ping customer.* */deleted" {
		t.Errorf("%+v, %v", s.Batches, s.Drop)
	}
	again, err := New(s)
	must.Succeed(t, err)
	must.Equal(t, again.Describe().Spec.Batches[0].With["account"], "entry[].id")
}

// What cannot be meant is refused, with its place and what to write.
func TestMistakesInSeveral(t *testing.T) {
	const before, after = "batches:\n",
		"  - {each: \"entry[].list\", with: {account: \"entry[].id\"}, optional: true}\n  - {each: Records}\n"
	for instead, want := range map[string]string{
		"batches: [{each: \"Records[0]\"}]\n": "p.yaml:5:18: Records[0] names one element of an array, and the others would be lost; " +
			"write Records",
		"batches: [{each: \"Records[]\"}]\n": "p.yaml:5:18: each leads to the array itself; write Records",
		"batches: [{each: \"$.Records\"}]\n": "$.Records is a JSONPath",
		"batches: [{each: \"a..b\"}]\n":      `write a path such as Records or "entry[].changes"`,
		"batches: [{with: {a: b}}]\n":        "each is missing in batches[0]; write each: and a path to the array of events, such as Records",
		"batches: [{each: a}, {each: a}]\n":  "a and a are one inside of the other",
		"batches: [{each: a}, {each: \"a[].b\"}]\n": "a and a[].b are one inside of the other, so an event would be part of another event; " +
			"write one of the two",
		"batches: [{each: ., optional: true}]\n":        "nothing is around a message that is an array, so its entry has each alone; write {each: .}",
		"batches: [{each: a, with: {x: \"b[].c\"}}]\n":  "b[].c is not in an object around the events at a; write a path that has a [] only where each has it",
		"batches: [{each: a, with: {x: \"b[0].c\"}}]\n": "b[0].c is not in an object around the events at a; write a path that has a []",
		"batches: [{each: \"a[].b\", with: {x: \"a[0].c\"}}]\n": "a[0].c names one element of an array, and the others would be lost; " +
			"write a[].c",
		"batches: [{each: a.b, with: {x: a}}]\n": "a holds the events themselves",
		"batches: [{each: a, with: {x.y: b}}]\n": `"x.y" cannot be the name of a member here; write _x_y`,
		"batches: [{each: a, optionl: true}]\n":  "unknown name optionl; write optional",
		"batches: 7\n":                           "batches is a number, not true or a list; write true, or [{each: Records}]",
	} {
		refused(t, strings.Replace(several, before+after, instead, 1), want)
	}
	for instead, want := range map[string]string{
		`["*"]`:           "p.yaml:4:8: drop: * would drop everything that is not declared, also by mistake; write the types",
		`["a*b*c"]`:       "a*b*c has more than one *",
		`[order]`:         "order is declared under events, so it is stored and not dropped; write one of the two",
		`["ord*", other]`: "order is declared under events",
	} {
		refused(t, strings.Replace(several, `[ping, "customer.*", "*/deleted"]`, instead, 1), want)
	}
}
