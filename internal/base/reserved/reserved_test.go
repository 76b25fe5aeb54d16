package reserved_test

import (
	"testing"

	"github.com/ingot-events/ingot/internal/base/reserved"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestWords(t *testing.T) {
	for word, want := range map[string][2]bool{
		"count": {true, true}, "COUNT": {true, true}, "abort": {true, false}, "Zone": {true, true}, // the list's ends, in any case
		"absolute": {true, true}, "data": {true, false}, "status": {true, false},
		"remove": {false, true}, "current_date": {false, true}, "bag": {false, true}, "unpivot": {false, true},
		"orders": {false, false}, "n": {false, false}, "fp": {false, false}, "counts": {false, false}, "oun": {false, false},
		"": {false, false},
	} {
		must.Equal(t, [2]bool{reserved.Word(word), reserved.InStatements(word)}, want, word)
	}
}
