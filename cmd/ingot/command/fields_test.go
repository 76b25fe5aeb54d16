package command

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestCommas(t *testing.T) {
	for text, want := range map[string][]string{"a,b": {"a", "b"}, `a\,b,c`: {"a,b", "c"}, "": {""}, `\`: {`\`}, "a,": {"a", ""}} {
		must.Match(t, Commas(text), want, text)
	}
}
