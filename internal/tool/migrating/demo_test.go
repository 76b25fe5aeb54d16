package migrating

import (
	"bytes"
	"strings"
	"testing"
)

// A table moves while an application writes it, whatever that does.
func TestDemo(t *testing.T) {
	for seed := range uint64(4) {
		var out bytes.Buffer
		if err := Demo(t.Context(), seed, &out); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, &out)
		}
		for _, want := range []string{"BACKFILL", "a turn is refused: ", "1 keys that two rows claim", "Rejected (not-turned)",
			"BACK", "the source of quake again", "PROVED"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("seed %d: no %q in\n%s", seed, want, &out)
			}
		}
	}
}
