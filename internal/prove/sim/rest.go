package sim

import (
	"context"
	"math/big"
	"slices"
	"strings"
)

// rest is what holds once a world has come to rest.
type rest struct {
	*World
}

// checkDrained checks a world at rest.
func (w *rest) checkDrained() bool {
	for _, key := range sortedKeys(w.model.slots) {
		s := w.model.slots[key]
		if s.unmarked {
			s.applyAll()
			w.checkSlot(key)
		}
		if s.damaged && w.model.marks {
			w.damage.checkLeftOut(s)
			continue
		}
		if s.applied != s.steps {
			w.Fail(Uncounted, "%s: %d of %d changes are counted", s.key, s.applied, s.steps)
			return false
		}
	}
	for _, body := range sortedKeys(w.sent) {
		if why := w.unsettled(w.sent[body]); why != "" {
			w.Fail(Lost, "%s is in no queue any more, and %s", body, why)
			return false
		}
	}
	w.trouble.checkOdd()
	w.stuck.checkStranded()
	w.checkTotals()
	w.checkLive()
	w.offload.checkBucket()
	w.spending.checkCost()
	return w.Failure == nil
}

// checkTotals checks the tables with the verifier that users have.
func (w *rest) checkTotals() {
	epoch := int64(1)
	if w.plan.Upgrade > 0 && w.phase > w.plan.Upgrade {
		epoch = 2
	}
	report, err := w.looks.verified(epoch)
	if err != nil {
		w.Fail(Broken, "verify: %v", err)
		return
	}
	w.trouble.checkReport(report, epoch)
	w.wholes.checkMissing(report.MissingParts, epoch)
	report.MissingParts = 0
	report.Differences = slices.DeleteFunc(report.Differences, w.damage.spoiledTotal)
	if !report.OK() {
		w.Fail(Wrong, "verify: %s (and %d more)", report.Differences[0], len(report.Differences)-1)
		return
	}
	w.checkHead()
}

// checkHead checks, at rest, that a generation that claims to be complete has no item below it.
func (w *rest) checkHead() bool {
	if w.plan.Upgrade == 0 || w.phase <= w.plan.Upgrade {
		return true
	}
	def, _ := w.pipelineOf(2).Definition("status")
	head, err := w.operators.storeOf(w.ingot.Engine.DynamoDB(), 2, w.Env(w.Rng.Float64, 0)).Head(context.Background(), def)
	switch {
	case err != nil:
		w.Fail(Broken, "head: %v", err)
	case head == nil && w.phase > w.plan.Upgrade+1:
		w.Fail(Generation, "the new generation has no head")
	case head != nil && !head.Building && len(w.trouble.odds.live) > 0 && head.Flag == "":
		w.Fail(Unkept, "the head says complete, an item cannot be understood, and no flag says so")
	case head != nil && !head.Building:
		for _, key := range sortedKeys(w.model.keys) {
			if live := w.model.keys[key].live; live != nil && live.epoch < 2 && !live.isPart() { // nothing of a part is in it
				w.Fail(Generation, "the head says complete, and %s is stamped %d", key, live.epoch)
				break
			}
		}
	}
	return w.Failure == nil
}

// checkLive adds up what is live and compares it with what is counted. It checks the model against
// itself.
func (w *rest) checkLive() {
	live := map[string]*big.Int{}
	for _, h := range w.model.keys {
		for _, p := range w.model.parts(h.live) {
			key := p.name + "|" + strings.ReplaceAll(p.by, "#", "%23") + "|" + p.window
			if live[key] == nil {
				live[key] = new1()
			}
			live[key].Add(live[key], big.NewInt(p.term))
		}
	}
	counted := map[string]*big.Int{}
	for _, s := range w.model.slots {
		if w.model.unclosed(s.key, w.Now) {
			continue
		}
		name, by, window := slotName(s.key)
		key := name + "|" + by + "|" + window
		if counted[key] == nil {
			counted[key] = new1()
		}
		counted[key].Add(counted[key], s.fp)
		counted[key].Sub(counted[key], s.fpx)
	}
	for _, s := range w.damage.damaged {
		name, by, window := slotName(s.key)
		delete(counted, name+"|"+by+"|"+window) // the aggregate counts what it took
	}
	for _, key := range sortedKeys(counted) {
		want := live[key]
		if want == nil {
			want = new1()
		}
		if counted[key].Cmp(want) != 0 {
			w.Fail(Wrong, "%s counts %s live, and its items add up to %s", key, counted[key], want)
			return
		}
	}
}
