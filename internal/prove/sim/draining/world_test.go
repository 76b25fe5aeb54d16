package draining

import (
	"cmp"
	"flag"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
)

var (
	from = flag.Uint64("from", 1, "the first seed")
	n    = flag.Int("n", 0, "the number of worlds; 0: 30, or with INGOT_TEST_ALL=1 500")
)

// TestWorlds lives worlds.
func TestWorlds(t *testing.T) {
	for seed := *from; seed < *from+uint64(cmp.Or(*n, slow.Number(30, 500))); seed++ {
		if r := Live(seed, false); r.Failure != nil {
			t.Fatalf("seed %d: %v; go test ./internal/prove/sim/draining -args -from %d -n 1", seed, r.Failure, seed)
		}
	}
}

// TestChildrenBeforeParents shows what the proof rests on: Lambda reads a shard only after the one
// that it came from. If it did not, fences in open shards would prove nothing of the closed ones.
func TestChildrenBeforeParents(t *testing.T) {
	for seed := range uint64(300) {
		if r := live(seed, false, true); r.Failure != nil && r.Failure.Check == Unproven {
			return
		}
	}
	t.Error("300 worlds in which children are read before their parents, and no answer is wrong")
}
