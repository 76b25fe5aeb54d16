package fields

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestSet(t *testing.T) {
	into := map[string]any{}
	for _, tt := range []struct{ name, wrong string }{
		{"id", "<nil>"}, {"customer.id", "<nil>"}, {"customer.mail.work", "<nil>"},
		{"lines[1].qty", "<nil>"}, {"lines[0]", "<nil>"}, {`["odd name"]`, "<nil>"},
		{"lines[1].qty.x", "field lines[1].qty has a value already"}, {"lines.x", "field lines has a value already"},
		{"[0]", "field [0]: a payload is an object, and has no elements"},
		{"lines[1000]", "field lines[1000]: at most element 999 of an array can be given"},
		{"id", "field id is given twice"}, {"id.of", "field id has a value already"}, {"customer", "field customer is given twice"},
	} {
		must.Equal(t, fmt.Sprint(Set(into, tt.name, tt.name)), tt.wrong, tt.name)
	}
	got, err := json.Marshal(into)
	must.Succeed(t, err)
	must.Equal(t, string(got), `{"customer":{"id":"customer.id","mail":{"work":"customer.mail.work"}},"id":"id",`+
		`"lines":["lines[0]",{"qty":"lines[1].qty"}],"odd name":"[\"odd name\"]"}`)
	for word, want := range map[string]string{"id=1": "id", "a.b=c=d": "a.b", `["a=b"].c=1`: `["a=b"].c`,
		"items[0].sku:=1": "items[0].sku:",
		"":                "", "id": "", "a..b=1": "", "=": ""} {
		if name, _, ok := Cut(word); name != want || ok != (want != "") {
			t.Errorf("%q is cut after %q", word, name)
		}
	}
}
