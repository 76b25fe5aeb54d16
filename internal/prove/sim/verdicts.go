package sim

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// verdicts are what an invocation says about a message.
type verdicts struct {
	*World
	rejected map[model.Fact]bool // events that a delivery was told are Rejected
}

// What an invocation says about a message must be true. The checks here do not ask how it came to
// say so. An invocation can only have seen what the message's key held since the invocation began.

// judge checks one outcome that the handler reports.
func (w *verdicts) judge(o handler.Outcome) {
	inv, m := invocationOf(w.Current), w.sent[o.Message.Body]
	switch {
	case inv == nil || m == nil:
		w.Fail(Broken, "a verdict on a message that nobody sent: %s", o.Message.Body)
	case m.events != nil:
		w.arrays.judgeArray(inv, m, o)
	default:
		w.judgeEvent(inv, m, o)
	}
}

// judgeEvent checks the outcome of one event.
func (w *verdicts) judgeEvent(inv *invocation, m *message, o handler.Outcome) {
	verdict := o.Verdict.String()
	w.stats.Verdicts[verdict]++
	w.wholes.noteParts(inv, m, verdict)
	w.offload.noteUpload(inv, m, verdict != "Retry" && !o.Failed)
	if why := w.undeserved(inv, m, verdict); why != "" {
		w.Fail(Undeserved, "%s says %s of %s, but %s", inv.Name, verdict, m.body, why)
		return
	}
	if erased := o.Refusal != nil && o.Refusal.Reason == event.Barred; verdict == "Duplicate" && !w.held(inv, m,
		func(img *model.Image) bool {
			return img != nil && (img.Barred && erased || !erased && img.Fact == m.fact)
		}) {
		w.Fail(Undeserved, "%s says Duplicate of %s (%v), and its key held nothing of the kind", inv.Name, m.body, o.Refusal)
	}
	if verdict == "Duplicate" && o.Refusal != nil {
		w.offload.checkTakenBack(inv, m)
	}
	switch verdict {
	case "Inserted", "Updated":
		inv.wrote[w.wholes.writeOf(inv, m, verdict)]-- // each write belongs to one message
	case "Conflict", "Rejected", "Expired", "Poison":
		w.rejected[m.fact] = w.rejected[m.fact] || verdict == "Rejected" && m.fact.After == ""
		if !o.Failed && !m.kept && (m.of != nil || w.quarantined[m.body] == 0) {
			w.Fail(Lost, "%s takes %s for kept, and it is not in quarantine", inv.Name, m.body)
		}
		if o.Existing != nil && !w.heldByAny(inv, m, func(_ model.Fact, img *model.Image) bool {
			return img != nil && img.Digest() == o.Existing.Digest.String()
		}) {
			w.Fail(Undeserved, "%s shows what %s conflicts with, but its key never held that: %s", inv.Name, m.body, o.Existing.Digest)
		}
	}
	w.requires.checkPatience(inv, m, o)
	settled := slices.Contains([]string{"Inserted", "Updated", "Duplicate", "Stale", "Dropped"}, verdict)
	if (settled && o.Failed && m.of == nil) || (verdict == "Retry" && !o.Failed) {
		w.Fail(Undeserved, "%s says %s of %s; that it goes back is %v", inv.Name, verdict, m.body, o.Failed)
	}
}

// judgeReport checks that the sums of a batch match its messages.
func (w *verdicts) judgeReport(r handler.IngestReport) {
	inv, verdicts := invocationOf(w.Current), 0
	for _, n := range r.Verdicts {
		verdicts += n
	}
	if all := len(inv.messages); r.Received != all || verdicts != all || r.Failed > all {
		w.Fail(Undeserved, "%s has %d messages and reports %d, with %d verdicts and %d failures", inv.Name, all, r.Received,
			verdicts, r.Failed)
	}
}

// write is an accepted write of one event by an invocation, with the verdict that it earns.
type write struct {
	fact    model.Fact
	verdict string
}

// accept notes a write for the invocation that made it. The write must have the stamp of that
// invocation.
func (w *verdicts) accept(c *model.Change) {
	inv := invocationOf(w.Current)
	if inv == nil || inv.wrote == nil {
		return
	}
	earned := "Updated"
	if c.Old == nil {
		earned = "Inserted"
	}
	inv.wrote[write{c.New.Fact, earned}]++
	if c.New.Epoch != inv.epoch {
		w.Fail(Altered, "%s is stamped %d, and %s has epoch %d", c.New.Key(), c.New.Epoch, inv.Name, inv.epoch)
	}
}

// held reports whether the message's key held such an image at some moment of the invocation. Only
// images that the invocation's code can read count.
func (w *verdicts) held(inv *invocation, m *message, such func(*model.Image) bool) bool {
	return w.heldUnder(inv, m.fact.Key(), such)
}

func (w *verdicts) heldUnder(inv *invocation, key string, such func(*model.Image) bool) bool {
	return slices.ContainsFunc(w.model.Keys[key].During(inv.began), func(img *model.Image) bool {
		return !inv.unreadable(img) &&
			such(img)
	})
}

// heldByAny reports whether the key of the message's item, or of one of its parts, held such an
// image.
func (w *verdicts) heldByAny(inv *invocation, m *message, such func(model.Fact, *model.Image) bool) bool {
	return slices.ContainsFunc(w.wholes.itemsOf(m, inv.epoch), func(f model.Fact) bool {
		return w.heldUnder(inv, f.Key(), func(img *model.Image) bool { return such(f, img) })
	})
}

// undeserved returns why a verdict does not fit the message's key, its time or its text. It returns
// an empty text if the verdict fits.
func (w *verdicts) undeserved(inv *invocation, m *message, verdict string) string {
	parcel, there := m.fact.Type == "parcel", true
	if m.pointer() != "" {
		there, _ = w.pointers.seen(inv, m)
	}
	switch {
	case verdict == "Retry":
		return w.untroubled(inv, m)
	case !there:
		return "its text was never there to be read"
	case m.unwanted() != (verdict == "Dropped"):
		return "Dropped is for what nobody wants, and for that alone"
	case m.unwanted():
		return ""
	case m.malformed != (verdict == "Poison"):
		return "Poison is for what cannot be read, and for that alone"
	case m.malformed:
		return ""
	}
	switch verdict {
	case "Inserted", "Updated":
		if inv.wrote[w.wholes.writeOf(inv, m, verdict)] < 1 {
			return "it has had no such write accepted"
		}
		return w.wholes.lacking(inv, m)
	case "Duplicate":
		if !w.held(inv, m, func(img *model.Image) bool { return img != nil && (img.Barred || img.Fact == m.fact) }) {
			return "its key never held that event"
		}
		if !w.held(inv, m, func(img *model.Image) bool { return img != nil && img.Barred }) {
			return w.wholes.lacking(inv, m)
		}
	case "Stale":
		if !parcel || !w.held(inv, m, func(img *model.Image) bool { return img != nil && !img.Barred && img.Newer(m.fact) }) {
			return "its key never held a newer revision"
		}
	case "Conflict":
		if !w.heldByAny(inv, m, func(f model.Fact, img *model.Image) bool {
			return img != nil && !img.Barred && img.Fact != f && f.Type != "shelf" && (!parcel || !img.Newer(f) && !f.Newer(img.Fact))
		}) {
			return "its key never held another event in its place"
		}
	case "Rejected":
		if m.fact.After != "" {
			return w.requires.undeservedRejection(inv, m)
		}
		return w.byPut.undeservedRejection(inv, m)
	case "Expired":
		if left := w.lifetime.left(m.fact); left > 0 {
			return fmt.Sprintf("it may be put for another %s", left)
		}
		if w.byPut.mayStillLand(inv, m, m.fact) && !w.held(inv, m, func(img *model.Image) bool {
			return img != nil &&
				img.Fact == m.fact
		}) {
			return stillUnderWay
		}
		if !w.heldByAny(inv, m, func(f model.Fact, img *model.Image) bool {
			return f.Type != "shelf" && (img == nil || parcel && !img.Barred && f.Newer(img.Fact))
		}) {
			return "its key held it, or what stands in its place"
		}
	default:
		return "there is no such verdict"
	}
	return ""
}

// untroubled returns why a message need not come again. In that case its invocation met no trouble
// and had time, and neither the item under its key nor another message of its batch prevented the
// put.
func (w *verdicts) untroubled(inv *invocation, m *message) string {
	instead := func(other *message) bool { // the message is tried in place of the other
		return !other.malformed && other.fact.Key() == m.fact.Key() && other.fact != m.fact && !m.fact.Newer(other.fact)
	}
	items, missing := w.wholes.itemsOf(m, inv.epoch), false
	if m.pointer() != "" {
		_, missing = w.pointers.seen(inv, m)
	}
	switch {
	case missing:
		w.Faults[metNothing]++
	case w.byPut.waits(inv, m.fact):
		w.Faults[metBuilding]++
	case w.requires.lacks(inv, m.fact) && !w.requires.brought(inv, m):
		w.Faults[metNoOrder]++
	case slices.ContainsFunc(items, func(f model.Fact) bool {
		return slices.ContainsFunc(w.model.Keys[f.Key()].During(inv.began), inv.unreadable)
	}):
		w.Faults[metNewer]++
	case w.byPut.mayStillLand(inv, m, m.fact) && w.lifetime.left(m.fact) <= 0:
		w.Faults[metTooLate]++
	case inv.Faults > 0, inv.Deadline.Sub(w.Now) < functionTimeout/2:
	case w.plan.FIFO: // the message waits for those before it
	case slices.ContainsFunc(items, func(f model.Fact) bool { return len(w.model.Keys[f.Key()].During(inv.began)) > 1 }):
	case slices.ContainsFunc(slices.Collect(w.arrays.eventsOf(inv)), instead):
	case w.states.heldUp(inv, m):
	default:
		return "nothing was in its way"
	}
	return ""
}
