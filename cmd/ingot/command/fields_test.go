package command

import (
	"reflect"
	"testing"
)

func TestCommas(t *testing.T) {
	for text, want := range map[string][]string{"a,b": {"a", "b"}, `a\,b,c`: {"a,b", "c"}, "": {""}, `\`: {`\`}, "a,": {"a", ""}} {
		if got := Commas(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is split into %q", text, got)
		}
	}
}
