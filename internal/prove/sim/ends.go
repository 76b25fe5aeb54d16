package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
)

// ends are payments that say themselves when they expire.
type ends struct {
	*World
	draw *rand.Rand // draws when they end
}

// In worlds whose plan has Ends, each payment says when it expires. Some end while they are under
// way.

// planEnds decides whether payments end. Its draw is its own, so that other worlds stay as they
// are.
func (p *Plan) planEnds() {
	p.Ends = p.Requires && rand.New(rand.NewPCG(p.Seed, 23)).IntN(2) == 0
}

// addEnds declares what shortens the life of payments.
func addEnds(spec *pipeline.Spec) {
	payment := spec.Events["payment"]
	payment.Expires = "{ends}"
	spec.Events["payment"] = payment
}

// addEnd says when a payment ends: at some time before it would expire without that.
func (w *ends) addEnd(f *model.Fact) {
	if !w.plan.Ends || f.Type != "payment" {
		return
	}
	life := time.Duration(1+w.draw.Int64N(int64(w.plan.retain()/time.Second))) * time.Second
	left := early + time.Duration(w.draw.IntN(120))*time.Second
	switch {
	case w.plan.Still:
		life = w.plan.retain()
	case w.draw.IntN(3) == 0:
		life = min(w.plan.retain(), max(time.Second, w.Now.Add(left).Sub(f.Time())))
	}
	f.Ends = f.Time().Add(life).Format(time.RFC3339)
	if life < w.plan.retain() {
		w.Fault(endsEarly, f.ID)
	}
}

// shorten returns how long the event of a fact lives that would live for so long without an end.
func shorten(f model.Fact, life time.Duration) time.Duration {
	if end, err := time.Parse(time.RFC3339, f.Ends); err == nil {
		return min(life, end.Sub(f.Time()))
	}
	return life
}
