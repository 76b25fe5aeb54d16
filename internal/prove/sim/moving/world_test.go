package moving

import (
	"cmp"
	"flag"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
)

var (
	from = flag.Uint64("from", 1, "the first seed")
	n    = flag.Int("n", 0, "the number of worlds; 0: 30, or with INGOT_TEST_ALL=1 200")
)

// TestWorlds lives worlds.
func TestWorlds(t *testing.T) {
	for seed := *from; seed < *from+uint64(cmp.Or(*n, slow.Number(15, 200))); seed++ {
		if r := Live(seed, false); r.Failure != nil {
			t.Fatalf("seed %d: %v; go test ./internal/prove/sim/moving -args -from %d -n 1", seed, r.Failure, seed)
		}
	}
}
