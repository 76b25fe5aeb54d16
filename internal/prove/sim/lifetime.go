package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// lifetime changes how long events live.
type lifetime struct {
	*World
	notice time.Time // events of this time and later live longer; zero if nothing changes
}

// planRetain lets the events of some worlds live for a week, or for so long that events that expire
// leave the totals of a day unclosed. In others, late events come so late that the last moment to
// put them passes during a put. Its draw is its own, so that other worlds stay as they are.
func (p *Plan) planRetain() {
	switch rand.New(rand.NewPCG(p.Seed, 14)).IntN(6) {
	case 0:
		p.Retain = 7 * 24 * time.Hour
	case 1:
		p.Retain = model.UnclosedFrom
	case 2:
		p.Faults.Hang = 0.7
		p.Late, p.Faults.Late = p.Late+0.3, p.Faults.Late+0.1
	}
}

// retain returns how long the world's events live.
func (p *Plan) retain() time.Duration {
	if p.Retain > 0 {
		return p.Retain
	}
	return 48 * time.Hour
}

// longer returns how long events live once a pipeline is deployed that keeps them longer.
func (p *Plan) longer() time.Duration { return p.retain() + 24*time.Hour }

// lengthen begins to deploy functions that keep events longer. Their pipeline.yaml says how
// long events lived before, as `ingot check --was` requires, and names a time after the deployment.
// Until that time, old and new code may take turns.
func (w *lifetime) lengthen() {
	w.Fault(lasting, "")
	w.notice = w.Now.Add(time.Duration(1+w.Rng.IntN(12)) * time.Hour).Truncate(time.Hour)
	w.Tracef("events of %s and later live for %s", w.notice.Format(time.RFC3339), w.plan.longer())
}

// keepsLonger reports whether the next invocation of a function runs the file that keeps events
// longer.
func (w *lifetime) keepsLonger() bool {
	return !w.notice.IsZero() && (!w.plan.Canary || w.Calm || !w.Now.Before(w.notice) || w.Chance(0.5))
}

// lifetime returns how long the event of a fact lives.
func (w *lifetime) lifetime(f model.Fact) time.Duration {
	life := w.plan.retain()
	if !w.notice.IsZero() && !f.Time().Before(w.notice) {
		life = w.plan.longer()
	}
	return shorten(f, life)
}

// left returns for how long from now the event of a fact may be put.
func (w *lifetime) left(f model.Fact) time.Duration {
	return f.Time().Add(w.lifetime(f) - early).Sub(w.Now)
}

// longestLife returns how long the item of the fact may live. It does not judge what an event from
// before the change may keep. If that was too long, the event comes back and is stored again, and
// that shows.
func (w *lifetime) longestLife() time.Duration {
	if w.notice.IsZero() {
		return w.plan.retain()
	}
	return w.plan.longer()
}

// returning lists the messages whose events have expired, but would not have if events lived
// longer.
func (w *lifetime) returning() (list []*message) {
	for _, m := range w.log {
		if age := w.Now.Sub(m.fact.Time()); !m.malformed && age > w.lifetime(m.fact) && age < shorten(m.fact, w.plan.longer())-early {
			list = append(list, m)
		}
	}
	return list
}
