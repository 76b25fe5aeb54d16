package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const withRequires = `ingot: 1
epoch: 1
type: "{type}"
events:
  account: {id: "{id | lower}", at: "{at}", key: {pk: "BANK#{bank.code}#ACCOUNT#{@id}", sk: "{@type}"}}
  transfer:
    id: "{id}"
    at: "{at}"
    key: {pk: "TRANSFER#{id}", sk: "-"}
    requires: [{type: account, key: {id: "{from.account}", bank.code: "{from.bank}"}}]
`

// The key of what is required is the key that the other event has.
func TestRequiredKeys(t *testing.T) {
	p := mustLoad(t, withRequires)
	item := func(body string) *event.Item {
		item, err := p.Plan(envelope.Message{Body: body})
		must.Succeed(t, err)
		return item
	}
	for _, id := range []string{"a", "A#b", `"ü{}`} {
		account := item(fmt.Sprintf(`{"type":"account","id":%q,"bank":{"code":7},"at":"2099-01-01T00:00:00Z"}`, id))
		transfer := item(fmt.Sprintf(`{"type":"transfer","id":"1","from":{"account":%q,"bank":"7"},"at":"2099-01-01T00:00:00Z"}`, id))
		if len(transfer.Requires) != 1 || transfer.Requires[0] != (event.Requirement{Type: "account", Key: account.Key}) {
			t.Errorf("%s requires %v, and the account is %s", id, transfer.Requires, account.Key)
		}
	}
	_, err := p.Plan(envelope.Message{Body: `{"type":"transfer","id":"1","from":{"account":"a"},"at":"2099-01-01T00:00:00Z"}`})
	if r := event.RefusalOf(err); r.Reason != event.MissingField || !strings.Contains(r.Detail, "requires: field from.bank") {
		t.Error(err)
	}
}

func TestMistakesOfRequires(t *testing.T) {
	const is = `{type: account, key: {id: "{from.account}", bank.code: "{from.bank}"}}`
	for instead, want := range map[string]string{
		`{type: acount, key: {id: "{x}"}}`:                              `there is no event type acount; write account`,
		`{type: account}`:                                               `key is missing`,
		`{type: account, key: {id: "{x}"}}`:                             `the key of account is made of more fields; write {bank.code: "{code}", id: "{x}"}`,
		`{type: account, key: {id: "{x", code: "{y}"}}`:                 `the brace that opens here is not closed`,
		`{type: account, key: {id: "{x}", bank.code: "{y}", z: "{z}"}}`: `the key of account is not made of z; write key without z`,
		`{type: session, key: {id: "{x}"}}`:                             `session has expires and mode: latest, so it may end at any time; write a type without expires`,
		`{type: account, key: {id: "{a}{b}", bank.code: "{y}"}}`:        `nothing separates`,
		`{type: timed, key: {id: "{x}"}}`:                               `the key of timed uses @at, which another event does not say`,
	} {
		text := strings.Replace(withRequires, is, instead, 1) + `  timed: {key: {pk: "{@at | day}", sk: "-"}}` + "\n" +
			`  session: {id: "{id}", at: "{at}", key: {pk: "S#{id}", sk: "-"}, mode: latest, revision: "{at}", retain: 30d, expires: "{end}"}` + "\n"
		refused(t, text, want)
	}
}

// What is said of a pipeline has what its types require, and is the same pipeline again.
func TestDescribedRequires(t *testing.T) {
	spec := mustLoad(t, withRequires).Describe().Spec
	again, err := New(spec)
	must.Succeed(t, err)
	for _, s := range []Spec{spec, again.Describe().Spec} {
		must.Equal(t, fmt.Sprint(s.Events["transfer"].Requires), "[{account map[bank.code:{from.bank} id:{from.account}]}]")
	}
}
