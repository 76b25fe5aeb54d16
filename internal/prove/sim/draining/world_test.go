package draining

import (
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim/stage/seeds"
)

// TestWorlds lives worlds.
func TestWorlds(t *testing.T) { seeds.Live(t, Live, 30, 500) }

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
