package sim

import "time"

// longer is how long events live once a pipeline is deployed that keeps them longer.
const longer = 72 * time.Hour

// lengthen begins to deploy an ingest function that keeps events longer. Its pipeline.yaml says how
// long events lived before, as `ingot check --was` requires, and names a time after the deployment.
// Until that time, old and new code may take turns.
func (w *World) lengthen() {
	w.fault(lasting, "")
	w.notice = w.Now.Add(time.Duration(1+w.rng.IntN(12)) * time.Hour).Truncate(time.Hour)
	w.tracef("events of %s and later live for %s", w.notice.Format(time.RFC3339), longer)
}

// keepsLonger reports whether the next invocation of the ingest function runs the file that keeps
// events longer.
func (w *World) keepsLonger() bool {
	return !w.notice.IsZero() && (!w.plan.Canary || w.calm || !w.Now.Before(w.notice) || w.chance(0.5))
}

// lifetime returns how long the event of a fact lives.
func (w *World) lifetime(f fact) time.Duration {
	if !w.notice.IsZero() && !f.at().Before(w.notice) {
		return longer
	}
	return retain
}

// longestLife returns how long the item of the fact may live. It does not judge what an event from
// before the change may keep. If that was too long, the event comes back and is stored again, and
// that shows.
func (w *World) longestLife() time.Duration {
	if w.notice.IsZero() {
		return retain
	}
	return longer
}

// returning lists the messages whose events have expired, but would not have if events lived
// longer.
func (w *World) returning() (list []*message) {
	for _, m := range w.log {
		if age := w.Now.Sub(m.fact.at()); !m.malformed && age > w.lifetime(m.fact) && age < longer-early {
			list = append(list, m)
		}
	}
	return list
}
