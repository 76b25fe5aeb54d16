package sim

import "time"

// longer is how long events live once a pipeline that keeps them longer has been deployed.
const longer = 72 * time.Hour

// lengthen begins to deploy an ingest function that keeps events longer. As `ingot check --was` asks for it, its file
// says how long events lived before, with a time that is after the deployment: until then, old and new code may take
// turns.
func (w *World) lengthen() {
	w.fault(lasting, "")
	w.notice = w.now.Add(time.Duration(1+w.rng.IntN(12)) * time.Hour).Truncate(time.Hour)
	w.tracef("events of %s and later live for %s", w.notice.Format(time.RFC3339), longer)
}

// keepsLonger reports whether the next invocation of the ingest function runs the file that keeps events longer.
func (w *World) keepsLonger() bool {
	return !w.notice.IsZero() && (!w.plan.Canary || w.calm || !w.now.Before(w.notice) || w.chance(0.5))
}

// lifetime is how long the event lives that a fact tells of.
func (w *World) lifetime(f fact) time.Duration {
	if !w.notice.IsZero() && !f.at().Before(w.notice) {
		return longer
	}
	return retain
}

// longestLife is how long its item may live. What an event from before the change may keep is not asked here: whether it
// was too much shows when the event comes back and is stored again.
func (w *World) longestLife() time.Duration {
	if w.notice.IsZero() {
		return retain
	}
	return longer
}

// returning are the messages whose events are over, and would not be if they lived longer.
func (w *World) returning() (list []*message) {
	for _, m := range w.log {
		if age := w.now.Sub(m.fact.at()); !m.malformed && age > w.lifetime(m.fact) && age < longer-early {
			list = append(list, m)
		}
	}
	return list
}
