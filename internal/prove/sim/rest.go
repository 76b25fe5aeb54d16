package sim

import (
	"context"
	"math/big"
	"slices"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// rest is what holds once a world has come to rest.
type rest struct {
	*World
}

// checkDrained checks a world at rest.
func (w *rest) checkDrained() bool {
	for _, key := range sortedKeys(w.model.Slots) {
		s := w.model.Slots[key]
		if s.Unmarked {
			s.ApplyAll()
			w.checkSlot(key)
		}
		if s.Damaged && w.model.Marks {
			w.damage.checkLeftOut(s)
			continue
		}
		if s.Applied != s.Steps {
			w.Fail(Uncounted, "%s: %d of %d changes are counted", s.Key, s.Applied, s.Steps)
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
		for _, key := range sortedKeys(w.model.Keys) {
			live := w.model.Keys[key].Live // nothing of a part or a payment is in it
			if live != nil && live.Epoch < 2 && !live.IsPart() && live.Type != "payment" {
				w.Fail(Generation, "the head says complete, and %s is stamped %d", key, live.Epoch)
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
	for _, h := range w.model.Keys {
		for _, p := range w.model.Parts(h.Live) {
			key := p.Name + "|" + p.Escaped() + "|" + p.Window
			if live[key] == nil {
				live[key] = new(big.Int)
			}
			live[key].Add(live[key], big.NewInt(p.Term))
		}
	}
	counted := map[string]*big.Int{}
	for _, s := range w.model.Slots {
		if w.model.Unclosed(s.Key, w.Now) {
			continue
		}
		name, by, window := model.SlotName(s.Key)
		key := name + "|" + by + "|" + window
		if counted[key] == nil {
			counted[key] = new(big.Int)
		}
		counted[key].Add(counted[key], s.FP)
		counted[key].Sub(counted[key], s.FPX)
	}
	for _, s := range w.damage.damaged {
		name, by, window := model.SlotName(s.Key)
		delete(counted, name+"|"+by+"|"+window) // the aggregate counts what it took
	}
	for _, key := range sortedKeys(counted) {
		want := live[key]
		if want == nil {
			want = new(big.Int)
		}
		if counted[key].Cmp(want) != 0 {
			w.Fail(Wrong, "%s counts %s live, and its items add up to %s", key, counted[key], want)
			return
		}
	}
}
