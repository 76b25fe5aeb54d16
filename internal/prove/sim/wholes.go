package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// wholes are orders with lines, which are their parts.
type wholes struct {
	*World
	draw     *rand.Rand // draws what worlds with parts have
	complete bool       // the old code is gone, and somebody has put the parts that were missing
}

// In worlds whose plan has Parts, every order has lines, and each line is a part of the order,
// stored as a separate item.

// lineSpec declares the lines of orders.
var lineSpec = pipeline.EventSpec{ID: "{id}#{line}", Key: pipeline.KeySpec{PK: "LINE#{id}#{line}", SK: "LINE"},
	Attributes: map[string]string{"amount": "cents"},
	Part:       pipeline.PartSpec{Of: "order", Each: "lines", With: []string{"id", "merchant", "at"}}}

// addLines declares lines and two aggregates of them, which begin with the epoch since. One keeps
// what expires.
func addLines(spec *pipeline.Spec, since int64, retain time.Duration) {
	line := lineSpec
	line.Indexes = map[string]pipeline.IndexSpec{"GSI1": {PK: "MERCHANT#{merchant}", SK: "{@at}"}}
	spec.Events["line"] = line
	spec.Aggregates["lines"] = pipeline.AggregateSpec{Since: since, By: map[string]string{"merchant": "{merchant}"}, OnExpire: "subtract",
		From: map[string]pipeline.FromSpec{"line": {Values: map[string]string{"lines": "count", "revenue": "sum cents"}}}}
	spec.Aggregates["line_days"] = pipeline.AggregateSpec{Since: since, Window: 24 * time.Hour, Retain: retain,
		From: map[string]pipeline.FromSpec{"line": {Values: map[string]string{"lines": "count", "largest": "max cents"}}}}
}

// spellLines writes the lines of an order as JSON.
func (w *wholes) spellLines(f model.Fact) string {
	var lines []string
	for _, line := range f.LineFacts() {
		_, number := line.WholeID()
		members := []string{`"line":` + number, `"cents":` + model.SpellNumber(w.draw, line.Cents)}
		w.draw.Shuffle(2, func(i, j int) { members[i], members[j] = members[j], members[i] })
		lines = append(lines, "{"+strings.Join(members, []string{",", " , "}[w.draw.IntN(2)])+"}")
	}
	return `"lines":[` + strings.Join(lines, ",") + "]"
}

// spell writes the body of a message again. Orders with lines often come in an envelope. Its id and
// time differ each time.
func (w *wholes) spell(m *message) {
	m.body, m.payload = m.fact.Spell(w.Rng), ""
	if m.fact.Lines == "" { // no order, or one without parts
		return
	}
	m.body = strings.TrimSuffix(m.body, "}") + "," + w.spellLines(m.fact) + m.fact.SpellCoupons() + m.fact.SpellShelves() + "}"
	if w.draw.IntN(2) == 0 {
		m.payload = m.body
		at := w.Now.Add(-time.Duration(w.draw.IntN(90*3600)) * time.Second)
		m.body = fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"shop","type":"order","time":%q,"data":%s}`, w.draw.IntN(1e9),
			at.Format(time.RFC3339), m.payload)
	}
}

// carried returns the payload of a message.
func (m *message) carried() string { return cmp.Or(m.payload, m.text, m.body) }

// addSomeLines gives an order lines, if the world has them.
func (w *wholes) addSomeLines(f *model.Fact) {
	if w.plan.Parts == 0 || f.Type != "order" {
		return
	}
	f.Lines = model.NoLines
	for n := range w.draw.IntN(4) {
		if n == 0 {
			f.Lines = ""
		} else {
			f.Lines += ","
		}
		f.Lines += fmt.Sprintf("%d=%d", n+1, w.byPut.transferred(w.draw.Int64N(1000)-100))
	}
}

// otherLines gives a copy of an order lines of which at least one is not a line of the first.
func (w *wholes) otherLines(f *model.Fact) {
	if f.Lines == "" {
		return
	}
	list := f.LineFacts()
	if len(list) == 0 || w.draw.IntN(2) == 0 {
		f.Lines = strings.TrimPrefix(f.Lines+fmt.Sprintf(",%d=%d", len(list)+1, w.draw.Int64N(1000)), model.NoLines+",")
		return
	}
	f.Lines = ""
	for i, line := range list {
		_, number := line.WholeID()
		f.Lines += fmt.Sprintf(",%s=%d", number, line.Cents+int64(i+1))
	}
	f.Lines = f.Lines[1:]
}

// knowsParts reports whether code of an epoch puts the parts of an order.
func (w *wholes) knowsParts(epoch int64) bool { return w.plan.Parts > 0 && epoch >= w.plan.Parts }

// partsOf returns the facts of the parts that code of an epoch stores for a message.
func (w *wholes) partsOf(m *message, epoch int64) []model.Fact {
	if !w.knowsParts(epoch) {
		return nil
	}
	return m.fact.Parts()
}

// itemsOf returns the facts of all items that code of an epoch stores for a message, the whole
// first.
func (w *wholes) itemsOf(m *message, epoch int64) []model.Fact {
	return append([]model.Fact{m.fact}, w.partsOf(m, epoch)...)
}

// lacking returns which part of a message its invocation cannot have found stored. It returns an
// empty text if there is none. A part whose key is barred is done with.
func (w *wholes) lacking(inv *invocation, m *message) string {
	for _, p := range w.partsOf(m, inv.epoch) {
		if !w.verdicts.heldUnder(inv, p.Key(), func(img *model.Image) bool { return img != nil && (img.Barred || atLeast(img, p)) }) &&
			!(p.Type == "shelf" && w.lifetime.left(p) <= 0) { // a state that is too late says nothing about its order
			return "its part " + p.Key() + " was never stored"
		}
	}
	return ""
}

// unsettledParts returns which part of an acknowledged message is not stored and never was. It
// returns nothing if older code may have acknowledged the whole alone.
func (w *wholes) unsettledParts(m *message) string {
	if w.plan.Parts != 1 {
		return ""
	}
	for _, p := range m.fact.Parts() {
		h := w.model.Keys[p.Key()]
		if state := p.Type == "shelf"; state && (h != nil && h.Newest.Newer(p) || w.lifetime.left(p) <= 0) {
			continue
		}
		if h == nil || !h.Facts[p] && !h.Barred {
			return "its part " + p.Key() + " was never stored"
		}
	}
	return ""
}

// checkWhole checks a part that is inserted. The order that it is a part of must have been stored
// before, with just this part.
func (w *wholes) checkWhole(c *model.Change) {
	if !c.New.IsPart() || c.Old != nil || c.New.Type == "shelf" {
		return
	}
	if h := w.model.Keys[c.New.Order().Key()]; h != nil {
		for whole := range h.Facts {
			if slices.Contains(whole.Parts(), c.New.Fact) {
				return
			}
		}
	}
	w.Fail(Parted, "%s (%d cents) is stored, and no order with such a part ever was", c.New.Key(), c.New.Cents)
}

// writeOf returns the write that earns a message its verdict: that of its item. If all of a message
// is put in one transaction, and its item was there already, it may be that of a part.
func (w *wholes) writeOf(inv *invocation, m *message, verdict string) write {
	own := write{m.fact, verdict}
	if w.plan.Atomic && inv.wrote[own] == 0 && w.verdicts.held(inv, m, func(img *model.Image) bool {
		return img != nil &&
			img.Fact == m.fact
	}) {
		for _, p := range w.partsOf(m, inv.epoch) {
			for _, v := range []string{verdict, "Updated"} { // a state may replace an older one
				if part := (write{p, v}); inv.wrote[part] > 0 {
					return part
				}
			}
		}
	}
	return own
}

// checkAtomic checks an item of an order that code puts in one transaction. At the moment in which
// any of its items is stored, all of them are. Only a bar may stand in the place of a line.
func (w *wholes) checkAtomic(c *model.Change) {
	if !w.plan.Atomic || c.Old != nil || !w.knowsParts(c.New.Epoch) || invocationOf(w.Current) == nil {
		return
	}
	switch c.New.Type {
	case "order":
		for _, p := range c.New.Parts() {
			if !w.claims.stands(p) {
				w.Fail(Parted, "%s is stored, and its part %s is not, though they are put together", c.New.Key(), p.Key())
				return
			}
		}
	case "line", "coupon":
		whole := c.New.Order()
		if item := w.read(eventsTable, whole.PK(), whole.SK()); item["type"] == nil {
			w.Fail(Parted, "%s is stored beside %s, which is not there", c.New.Key(), whole.Key())
		}
	}
}

// sentWithin reports whether the payload of a part is what a message makes of it: the members that
// the part has of its order, and then its own, both as they were spelled.
func (w *wholes) sentWithin(img *model.Image) bool {
	id := img.Order().ID
	shared := fmt.Sprintf(`{"id":%q,"merchant":%q,"at":%q,`, id, img.Merchant, img.At)
	own, ok := strings.CutPrefix(img.Data, shared)
	return ok && slices.ContainsFunc(w.orders[id], func(m *message) bool {
		return slices.Contains(m.fact.Parts(), img.Fact) && strings.Contains(m.carried(), "{"+own)
	})
}

// count returns what an item must say about how many parts it has. It returns nothing for an item
// that code without parts has put, and for anything but an order.
func (w *wholes) countOfParts(c *model.Change) (n model.Typed, counts bool) {
	switch {
	case c.New.Type != "order", !w.knowsParts(c.New.Epoch), c.Old != nil && c.Old.Whole["i:parts"] == nil:
		return model.Typed{}, false
	}
	return model.Typed{Kind: "N", Value: strconv.Itoa(len(c.New.Parts()) - len(c.New.ShelfFacts()))}, true
}

// missingParts lists the parts of stored orders whose keys are free, or hold another order's claim,
// and which are not too late to be put.
func (w *wholes) missingParts() (list []model.Fact) {
	for _, key := range sortedKeys(w.model.Keys) {
		whole := w.model.Keys[key].Live
		if whole == nil || whole.Elsewhere != nil && !w.knowsParts(whole.Epoch) { // what it keeps does not show its parts
			continue
		}
		for _, p := range whole.Parts() {
			held := w.model.Keys[p.Key()].Holds()
			if held != nil && (p.Type == "line" || atLeast(held, p)) {
				continue
			}
			if w.Now.Before(p.Time().Add(w.lifetime.lifetime(p) - early)) {
				list = append(list, p)
			}
		}
	}
	return list
}

// orphanedParts lists the stored parts whose order is not stored, or lacks them. If the payload of
// the order is elsewhere, nobody knows.
func (w *wholes) orphanedParts(epoch int64) (list []model.Fact) {
	if !w.knowsParts(epoch) {
		return nil
	}
	for _, key := range sortedKeys(w.model.Keys) {
		part := w.model.Keys[key].Live
		if part == nil || !part.IsPart() || !w.Now.Before(part.Time().Add(w.lifetime.lifetime(part.Fact)-early)) {
			continue
		}
		whole := w.model.Keys[part.Order().Key()].Holds()
		if whole == nil || whole.Elsewhere == nil && !slices.ContainsFunc(whole.Parts(),
			func(p model.Fact) bool { return p.Key() == key }) {
			list = append(list, part.Fact)
		}
	}
	return list
}

// checkMissing checks, at rest, what verify says about missing parts. It also checks that none is
// missing without a reason: a person has removed it, its message is kept in quarantine, or older
// code has acknowledged its order and nobody has put it since.
func (w *wholes) checkMissing(found int, epoch int64) {
	if !w.knowsParts(epoch) {
		if found != 0 {
			w.Fail(Wrong, "verify finds %d missing parts, and no parts are declared", found)
		}
		return
	}
	missing := w.missingParts()
	if found != len(missing) {
		w.Fail(Wrong, "verify finds %d missing parts, and %d are missing: %v", found, len(missing), missing)
	}
	for _, p := range missing {
		h, kept := w.model.Keys[p.Key()], false
		for _, m := range w.orders[p.Order().ID] {
			kept = kept || w.isKept(m) || m.of != nil && w.dead.byHand[m.of.body] > 0 // its object is gone
		}
		if p.Type == "shelf" && h != nil && len(h.Gone) > 0 { // a newer state has expired before this one
			continue
		}
		if kept || h.Holds() != nil && w.plan.Parts > 1 || h != nil && h.Removed || w.plan.Parts > 1 && !w.complete {
			continue
		}
		w.Fail(Parted, "%s is missing: its order is stored, and its message is done with", p.Key())
		return
	}
}

// putParts lets a person put the parts that are missing.
func (w *wholes) putParts(version int64) {
	if !w.knowsParts(version) {
		return
	}
	ctx := w.Deadline(context.Background(), w.Now.Add(48*time.Hour), 0)
	done, err := repair.Of(w.operators.storeOf(w.client(), version, w.Env(w.Rng.Float64, 0))).PutParts(ctx)
	w.Tracef("put parts: %d of %d missing, %v", done.Put, done.Missing, err)
	w.Faults[putAgain] += done.Put
}

// toolEpoch returns the epoch of the pipeline that a person's tool has when it erases an event. To
// erase the parts of an order, or its payload, it must know of them, and be able to read the order.
func (w *wholes) toolEpoch() int64 {
	if (w.plan.Parts > 0 || w.plan.Offload > 0) && w.plan.Upgrade > 0 {
		return newest
	}
	return 1
}

// checkErasedParts checks that an order that was erased has left no part. It judges only an order
// that was there, unchanged, from the beginning of the erasure to its end.
func (w *wholes) checkErasedParts(of model.Fact, before int) {
	states := w.model.Keys[of.Key()].During(before)
	if len(states) != 2 || states[0] == nil || states[0].Barred || states[1] == nil || !states[1].Barred {
		return
	}
	w.claims.checkReleased(states[0].Fact)
	w.states.checkRemoved(states[0].Fact)
	for _, p := range states[0].LineFacts() {
		if img := w.model.Keys[p.Key()].Holds(); img != nil && !img.Barred {
			w.Fail(Returned, "%s was erased, and its part %s is still stored", of.Key(), p.Key())
			return
		}
	}
}

// noteParts counts what happened to orders with parts.
func (w *wholes) noteParts(inv *invocation, m *message, verdict string) {
	if len(m.fact.Parts()) == 0 {
		return
	}
	w.states.note(inv, m, verdict)
	if !w.knowsParts(inv.epoch) && (verdict == "Inserted" || verdict == "Duplicate") {
		w.Faults[wholeAlone]++
	}
	if verdict == "Duplicate" && slices.ContainsFunc(w.partsOf(m, inv.epoch), func(p model.Fact) bool {
		return inv.wrote[write{p, "Inserted"}] > 0
	}) {
		w.Faults[healed]++
	}
}

// keyOfFact returns the key under which the item of a fact is stored.
func keyOfFact(f model.Fact) event.Key { return event.Key{PK: f.PK(), SK: f.SK()} }
