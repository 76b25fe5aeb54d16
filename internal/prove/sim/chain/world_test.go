package chain

import (
	"flag"
	"testing"
)

var (
	from = flag.Uint64("from", 1, "the first seed")
	n    = flag.Int("n", 200, "the number of worlds")
)

func TestWorlds(t *testing.T) {
	for seed := *from; seed < *from+uint64(*n); seed++ {
		if r := Live(seed, false); r.Failure != nil {
			t.Fatalf("seed %d: %v; go test ./internal/prove/sim/chain -args -from %d -n 1", seed, r.Failure, seed)
		}
	}
}
