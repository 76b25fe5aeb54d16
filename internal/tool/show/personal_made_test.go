package show

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
)

// made is a pipeline that hashes what envelopes say, and ids that are made of fields.
const made = `
ingot: 1
epoch: 1
type: "{type}"
events:
  login:
    id: "{name}"
    at: "{at}"
    key: {pk: "LOGIN#{@id | hmac}", sk: "-"}
    indexes: {GSI1: {pk: "ID#{@id}", sk: "{@at}"}}
  cloud:
    id: "{n}"
    at: "{at}"
    key: {pk: "C#{@attribute.subject | hmac}", sk: "{n}"}
    indexes: {GSI1: {pk: "S#{@attribute.subject}", sk: "{@at}"}}
aggregates:
  logins: {since: 1, by: {who: "{@id}"}, rank: {value: most}, window: 1d, from: {login: {values: {most: max name.length?, logins: count}}}}
`

func hiddenMade(t *testing.T) (Personal, *pipeline.Pipeline) {
	t.Helper()
	p := written.Pipeline(t, made, pipeline.CheckOnly())
	return PersonalOf(p), p
}

// What feeds a hash through an id or an attribute is as personal as what feeds it by itself.
func TestWhatIdsAndAttributesAreMadeOf(t *testing.T) {
	m, _ := hiddenMade(t)
	item := m.Item(event.Item{Type: "login", ID: "ann", Key: event.Key{PK: "LOGIN#0123", SK: "-"}, Data: `{"name":"ann"}`,
		Indexes: []event.IndexKey{{Name: "GSI1", Key: event.Key{PK: "ID#ann", SK: "t"}}}})
	if item.ID != Mask || item.Key.PK != "LOGIN#0123" || item.Indexes[0].Key.PK != Mask || item.Indexes[0].Key.SK != "t" ||
		item.Data != `{"name":"***"}` {
		t.Errorf("%+v", item)
	}
	must.Equal(t, m.By("logins", map[string]string{"who": "ann"})["who"], Mask)
	must.Equal(t, m.Data(
		`{"specversion":"1.0","subject":"ann","data":{"n":1}}`), `{"specversion":"1.0","subject":"***","data":{"n":1}}`)
	for name, want := range map[string]string{"subject": Mask, "ce_subject": Mask, "ce-subject": Mask, "cloudEvents_subject": Mask,
		"subjects": "ann", "id": "ann"} {
		must.Equal(t, m.Attribute(name, "ann"), want, name)
	}
	must.Equal(t, m.Attribute("copy", `{"name":"ann"}`), `{"name":"***"}`)
	must.Equal(t, m.KeyOf("cloud", event.Key{PK: "C#0123", SK: "7"}), event.Key{PK: "C#0123", SK: "7"})
	// Nobody knows what the keys of a type are made of that the pipeline does not have.
	must.Equal(t, m.KeyOf("gone", event.Key{PK: "X#ann", SK: "-"}), event.Key{PK: Mask, SK: Mask})
	must.Equal(t, (Personal{}).KeyOf("gone", event.Key{PK: "X#ann", SK: "-"}).PK, "X#ann")
}

// A text that is coded hides as much as one that is not.
func TestCodedPayloadsAreMasked(t *testing.T) {
	m, _ := hiddenMade(t)
	for in, want := range map[string]string{
		`{"specversion":"1.0","data_base64":"eyJuYW1lIjoiYW5uIn0="}`: `{"specversion":"1.0","data_base64":"***"}`,
		`{"body":"\"{\\\"name\\\":\\\"ann\\\"}\""}`:                  `{"body":"\"{\\\"name\\\":\\\"***\\\"}\""}`,
	} {
		must.Equal(t, m.Data(in), want, in)
	}
}

// A detail may have been cut inside of a quote, and may name a quote as a character.
func TestQuotesThatAreNotClosed(t *testing.T) {
	m, _ := hiddenMade(t)
	for in, want := range map[string]string{
		`field name: "ann…`:                                 `field name: "***"`,
		`a "b" and "c\" ann`:                                `a "***" and "***"`,
		`byte 3: ',' is missing before '"', at "ann" there`: `byte 3: ',' is missing before '"', at "***" there`,
		`nothing is quoted`:                                 `nothing is quoted`,
		`"ann"`:                                             `"***"`,
	} {
		must.Equal(t, m.Quoted(in), want, in)
	}
	flags := []string{`t item "ann": x`, "y"}
	if got := m.All(flags); strings.Join(got, ";") != `t item "***": x;y` || flags[0] != `t item "ann": x` {
		t.Errorf("%v, %v", got, flags)
	}
}

func TestDifferencesAreMasked(t *testing.T) {
	m, p := hiddenMade(t)
	def, _ := p.Definition("logins")
	for what, hides := range map[string]bool{"logins": false, "fp": false, "n": false, "most": true, "i:score": true} {
		d := verify.Difference{Total: "logins who=ann", Def: def, By: map[string]string{"who": "ann"}, What: what, Has: "1", Wants: "3"}
		if got := m.Difference(d).String(); strings.Contains(got, "ann") || strings.Contains(got, "3") == hides ||
			strings.Contains(got, "1970") {
			t.Errorf("%s: %s", what, got)
		}
		must.Say(t, (Personal{}).Difference(d).String(), "ann")
	}
}

// The keys of a question are hidden if one of its templates shows something personal.
func TestQuestionsAreMasked(t *testing.T) {
	p := written.Pipeline(t, made+`
patterns:
  of_login: {read: [login]}
  by_id: {read: [login], index: GSI1}
  totals: {total: logins}
`, pipeline.CheckOnly())
	for name, want := range map[string]bool{"of_login": false, "by_id": true, "totals": true} {
		pattern, err := p.Pattern(name)
		must.Succeed(t, err)
		must.Equal(t, PersonalOf(p).Asked(pattern), want, name)
	}
}
