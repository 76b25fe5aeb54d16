// Package seeds is the test of a package of worlds. Only tests import it, because it defines flags.
package seeds

import (
	"cmp"
	"flag"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

var (
	from = flag.Uint64("from", 1, "the first seed")
	n    = flag.Int("n", 0, "the number of worlds; 0: as many as the test says")
)

// Live lives worlds: few of them, or many where tests that take long run too. The first is lived
// twice.
func Live(t *testing.T, live func(seed uint64, still bool) stage.Result, few, many int) {
	t.Helper()
	for seed := *from; seed < *from+uint64(cmp.Or(*n, slow.Number(few, many))); seed++ {
		r := live(seed, false)
		if r.Failure != nil {
			t.Fatalf("seed %d: %v; go test . -args -from %d -n 1", seed, r.Failure, seed)
		}
		if again := r.Trace; seed == *from && live(seed, false).Trace != again {
			t.Fatalf("seed %d makes two worlds: one ends %s", seed, again)
		}
	}
}
