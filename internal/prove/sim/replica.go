package sim

import (
	"math/rand/v2"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// replica is behind now and then, so that a read that is eventually consistent is stale.
type replica struct {
	*World
	draw    *rand.Rand // draws which replicas are behind
	reading bool       // whether a request of a function or an operator is being read
}

// reads makes requests meet a replica that is behind, until the returned function is called. The
// world's own checks read without it, because they look at the current state.
func (r recorder) reads() (end func()) {
	r.w.replica.reading = true
	return func() { r.w.replica.reading = false }
}

// behind decides how many of the latest writes are missing from the replica that answers a read. A
// few are more likely than many. Ingot asks for consistent reads, which are not affected. So these
// draws use a source of their own, and do not shift any other draw.
func (w *replica) behind(r embedded.Read) int {
	if w.asking {
		return w.reader.behind(r)
	}
	if !w.reading || w.Calm || r.Writes == 0 || w.draw.Float64() >= w.plan.Faults.Behind {
		return 0
	}
	n := 1 + w.draw.IntN(min(r.Writes, 1<<w.draw.IntN(7)))
	w.Faults[behind]++
	if !r.Consistent {
		w.Tracef("a %s is answered without the latest %d writes", r.API, n)
	}
	return n
}
