package sim

import (
	"os"
	"strconv"
	"testing"

	long "github.com/ingot-events/ingot/internal/kit/slow"
)

// TestWorlds lives a few worlds. `make sim` lives thousands. SEED=n replays one.
func TestWorlds(t *testing.T) {
	if s := os.Getenv("SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if r := Live(NewPlan(seed), true); r.Failure != nil {
			t.Fatalf("seed %d: %v\n%s", seed, r.Failure, r.Trace)
		}
		return
	}
	for seed := range fewer(30) {
		if r := lived(seed); r.Failure != nil {
			t.Errorf("seed %d: %v; replay: SEED=%d go test -run TestWorlds ./internal/prove/sim", seed, r.Failure, seed)
		}
	}
}

var lives = map[uint64]Result{}

// lived returns what becomes of the world of a seed. It is lived once for all tests.
func lived(seed uint64) Result {
	r, known := lives[seed]
	if !known {
		r = Run(seed)
		lives[seed] = r
	}
	return r
}

// fewer returns how many worlds a test lives: n of them where the tests that take long run too, and
// else a fifth.
func fewer(n uint64) uint64 {
	if long.All() {
		return n
	}
	return n / 5
}

// TestSameSeedSameTrace shows that the same seed gives the same trace. Without that, no failure
// could be replayed.
func TestSameSeedSameTrace(t *testing.T) {
	for seed := range uint64(long.Number(1, 10)) {
		a, b := Live(NewPlan(seed), true), Live(NewPlan(seed), true)
		if a.Trace != b.Trace {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if len(a.Trace) < 1000 {
			t.Fatalf("seed %d: the trace says nothing", seed)
		}
	}
}
