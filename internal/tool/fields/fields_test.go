package fields

import (
	"encoding/json"
	"testing"
)

func TestSet(t *testing.T) {
	into := map[string]any{}
	for _, tt := range []struct{ name, wrong string }{
		{"id", ""}, {"customer.id", ""}, {"customer.mail.work", ""},
		{"id", "field id is given twice"}, {"id.of", "field id has a value already"}, {"customer", "field customer is given twice"},
	} {
		err := Set(into, tt.name, tt.name)
		if text := ""; err != nil && err.Error() != tt.wrong || err == nil && tt.wrong != text {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	got, err := json.Marshal(into)
	if err != nil || string(got) != `{"customer":{"id":"customer.id","mail":{"work":"customer.mail.work"}},"id":"id"}` {
		t.Errorf("%s, %v", got, err)
	}
	for name, want := range map[string]bool{"id": true, "customer.id": true, "": false, "a[0]": false, "a..b": false, ".": false} {
		if Valid(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
