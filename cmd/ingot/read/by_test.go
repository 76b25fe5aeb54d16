package read

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// A total is found by the fields that its by is made of, or by the values of by under their own
// names. A field that plays no part in it is named, and so are those that do.
func TestValuesOfBy(t *testing.T) {
	const head = "ingot: 1\nepoch: 1\ntype: '{type}'\nevents:\n  paid: {id: '{id}', at: '{at}', key: {pk: 'P#{id}', sk: P}}\naggregates:\n  t: {since: 1, window: 1d, "
	const fields, typed = head + "by: {shop: '{shop.id}', currency: '{currency}'}, ", head + "by: {type: '{@type}'}, "
	for _, tt := range []struct {
		by    string
		given string // FIELD=VALUE words, separated by blanks
		want  string // values by name
		wrong string
		usage bool
	}{
		{by: fields, given: "shop.id=s-1 currency=EUR", want: "EUR s-1"},
		{by: fields, given: `shop:={"id":"s-1"} currency=EUR`, want: "EUR s-1"},
		{by: fields, given: "shop=s-1 currency=EUR", want: "EUR s-1"}, // values of by
		{by: fields, given: "shop=s-1", wrong: "a total of t is found by currency and shop: give currency=VALUE too"},
		{by: fields, given: "shop.id=s-1",
			wrong: "a total of t is found by currency and shop.id, and field currency is missing: give that too"},
		{by: fields, given: "currency=EUR",
			wrong: "a total of t is found by currency and shop.id, and field shop.id is missing: give that too"},
		{by: fields, given: "", wrong: "a total of t is found by currency and shop.id, and field currency is missing: give that too"},
		{by: fields, given: "shop.id=s-1 cty=DE", wrong: "t has no field cty in its by; a total of t is found by currency and shop.id",
			usage: true},
		{by: fields, given: "shop.id=s-1 currency=EUR cty=DE", wrong: "t has no field cty in its by", usage: true},
		{by: typed, given: "type=paid", want: "paid"},
		{by: typed, given: "", wrong: "a total of t is found by type: give type=VALUE"},
		{by: typed, given: "cty=DE", wrong: "a total of t is found by type: give type=VALUE, not cty"},
		{by: head, given: "", want: ""},
		{by: head, given: "cty=DE", wrong: "it has no by, so it has one total for each window: leave the field out", usage: true},
		{by: head + "by: {shop: '{shop.id | hmac}'}, ", given: "shop=s-1", wrong: "64 digits of lower-case hex: give shop.id=VALUE instead",
			usage: true},
	} {
		p, err := textfile.File{Name: "pipeline.yaml", Text: []byte(tt.by + "from: {paid: {values: {n_paid: count}}}}\n")}.Load(
			pipeline.Secret([]byte("a secret for this test alone")))
		must.Succeed(t, err)
		given, names, err := (&command.App{}).NamedFields(strings.Fields(tt.given))
		must.Succeed(t, err)
		def, _ := p.Definition("t")
		by, err := valuesOfBy(p, totalOf(def), given, names)
		if err == nil {
			err = p.CheckBy("t", by) // as a read does
		}
		var got []string
		for _, name := range def.By {
			got = append(got, by[name])
		}
		switch {
		case tt.wrong == "" && (err != nil || strings.Join(got, " ") != tt.want):
			t.Errorf("%q: values %q and %v, want %q", tt.given, got, err, tt.want)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%q: error %v, want %q", tt.given, err, tt.wrong)
		case tt.usage && errors.As(err, new(errNotOne)):
			t.Errorf("%q: --scan is offered, but the field is wrong: %v", tt.given, err)
		}
	}
}
