package sim

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
)

// requires are payments, each of which requires an order.
type requires struct {
	*World
	draw *rand.Rand // draws what is a payment, and of which order
}

// In worlds whose plan has Requires, some events are payments. A payment is stored only once the
// order that it names was. Most are sent right after their order. Others come before it, or name an
// order that never comes, was erased or has expired. Expired items stay for longer there.

// deliveries is how often a payment is delivered before it is Rejected, except in a FIFO group.
const deliveries = 3

// planRequires decides whether there are payments. Its draw is its own, so that other worlds stay
// as they are. A message may not become a dead letter before it is Rejected.
func (p *Plan) planRequires() {
	if p.Requires = rand.New(rand.NewPCG(p.Seed, 21)).IntN(4) == 0 && !p.Patterns && p.Faults.Odd == 0; p.Requires {
		p.Receives = max(p.Receives, deliveries)
	}
}

// addPayments declares payments and a total of them.
func addPayments(spec *pipeline.Spec, retain time.Duration) {
	spec.Events["payment"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Retain: retain,
		Key:        pipeline.KeySpec{PK: "PAYMENT#{id}", SK: "PAYMENT"},
		Attributes: map[string]string{"amount": "cents"}, Indexes: map[string]pipeline.IndexSpec{},
		Requires: []pipeline.RequireSpec{{Type: "order", Key: map[string]string{"id": "{order}"}}}}
	spec.Aggregates["payments"] = pipeline.AggregateSpec{Since: 1, OnExpire: "subtract",
		From: map[string]pipeline.FromSpec{"payment": {Values: map[string]string{"payments": "count", "paid": "sum cents"}}}}
}

// addPayment makes a payment of some orders of a burst, of which these messages come before it.
// Where nothing goes wrong, a payment comes after its order.
func (w *requires) addPayment(f *model.Fact, before []*message) {
	if !w.plan.Requires || f.Type != "order" || w.draw.IntN(4) > 0 {
		return
	}
	last := ""
	for _, m := range before {
		if m.fact.Type == "order" {
			last = m.fact.ID
		}
	}
	if w.plan.Still && last == "" {
		return
	}
	f.Type, f.Customer, f.After = "payment", "", last
	gone := w.gone()
	switch n := w.draw.IntN(10); {
	case w.plan.Still:
	case n == 0 || last == "":
		f.After = f.ID // no order has the id of a payment
	case n < 3: // the next one may be an order
		phase, number, _ := strings.Cut(f.ID, "-")
		n, _ := strconv.Atoi(number)
		f.After = phase + "-" + strconv.Itoa(n+1)
	case n < 6 && len(gone) > 0:
		f.After = gone[w.draw.IntN(len(gone))]
	}
}

// gone lists orders that were erased, or that have expired and are still there.
func (w *requires) gone() (ids []string) {
	for _, key := range sortedKeys(w.model.Keys) {
		if img := w.model.Keys[key].Holds(); img != nil && img.Type == "order" && (img.Barred || img.ExpiresAt <= w.Now.Unix()) {
			ids = append(ids, img.ID)
		}
	}
	return ids
}

// sweepsLater reports whether time to live leaves what has expired until another time.
func (w *requires) sweepsLater() bool { return w.plan.Requires && w.draw.IntN(2) == 0 }

// counts reports whether an image is an order that has not expired at a moment.
func counts(img *model.Image, at time.Time) bool {
	return img != nil && !img.Barred && img.Type == "order" && img.ExpiresAt > at.Unix()
}

// start returns when an invocation began.
func (inv *invocation) start() time.Time { return inv.Deadline.Add(-functionTimeout) }

// needed lists what the key of the order that a payment requires has held since an invocation
// began.
func (w *requires) needed(inv *invocation, f model.Fact) []*model.Image {
	return w.model.Keys[f.Needs().Key()].During(inv.began)
}

// lacks reports whether an event requires an order that was not stored at some moment of an
// invocation.
func (w *requires) lacks(inv *invocation, f model.Fact) bool {
	return f.After != "" && slices.ContainsFunc(w.needed(inv, f), func(img *model.Image) bool { return !counts(img, w.Now) })
}

// brought reports whether the batch of an invocation that met no trouble had the order that a
// payment requires, and it is stored. It was then put before anything was read for the payment.
// What a message points to is put after the others.
func (w *requires) brought(inv *invocation, of *message) bool {
	all := w.needed(inv, of.fact)
	if inv.Faults > 0 || w.plan.FIFO || w.plan.Pointers || !counts(all[len(all)-1], w.Now) ||
		slices.ContainsFunc(all, func(img *model.Image) bool { return img != nil && !counts(img, w.Now) }) {
		return false
	}
	for m := range w.arrays.eventsOf(inv) {
		if !m.malformed && m.fact.Key() == of.fact.Needs().Key() && w.lifetime.left(m.fact) > 0 {
			return true
		}
	}
	return false
}

// checkRequired checks a payment that appears. Its order was stored before, and has not expired.
func (w *requires) checkRequired(c *model.Change) {
	if c.New.After == "" || c.Old != nil {
		return
	}
	if h := w.model.Keys[c.New.Needs().Key()]; h == nil || h.Inserts == 0 {
		w.Fail(Required, "%s is stored, and %s never was", c.New.Key(), c.New.Needs().Key())
		return
	}
	inv := invocationOf(w.Current)
	if inv != nil && !slices.ContainsFunc(w.needed(inv, c.New.Fact), func(img *model.Image) bool { return counts(img, inv.start()) }) {
		w.Fail(Required, "%s is stored, and %s was not stored any more", c.New.Key(), c.New.Needs().Key())
	}
}

// undeservedRejection returns why a payment may not be Rejected. It returns an empty text if it
// may: its order was missing, and so was the payment.
func (w *requires) undeservedRejection(inv *invocation, m *message) string {
	switch {
	case !w.lacks(inv, m.fact):
		return "the order that it requires was stored"
	case w.brought(inv, m):
		return "its batch brought the order that it requires"
	case !w.verdicts.held(inv, m, func(img *model.Image) bool { return img == nil }):
		return "its key was never free"
	case w.byPut.mayStillLand(inv, m, m.fact):
		return stillUnderWay
	}
	return ""
}

// checkPatience checks that a payment without its order comes again twice before it is Rejected. A
// FIFO group does not wait for it.
func (w *requires) checkPatience(inv *invocation, m *message, o handler.Outcome) {
	if o.Refusal == nil || o.Refusal.Reason != event.Requires {
		return
	}
	received, _ := strconv.Atoi(o.Message.Attributes["ApproximateReceiveCount"])
	waits := received < deliveries && !w.plan.FIFO
	if (o.Verdict == event.Retry) != waits {
		w.Fail(Undeserved, "%s says %s of %s, which requires an order that is not stored, after %d deliveries", inv.Name, o.Verdict, m.body,
			received)
	}
	if !waits {
		w.Faults[unpaid]++
	}
}

// reads returns how often a key may be read for a payment: for what it requires, and for the
// payment itself if that is missing.
func (w *requires) reads(m *message, pk string) int {
	if m.fact.After == "" || pk != m.fact.PK() && pk != m.fact.Needs().PK() {
		return 0
	}
	return 1
}

// resend lets a person send payments again that are in quarantine and whose orders are stored now.
// Each is then stored, or there is another reason to keep it. In a FIFO group it is now the last.
func (w *requires) resend() {
	if !w.plan.Requires || w.dead.depth(w.ingot.Queue) > 0 { // one of them may not be deleted yet
		return
	}
	for _, body := range sortedKeys(w.quarantined) {
		m := w.sent[body]
		if m == nil || m.events != nil || m.fact.After == "" || m.malformed || m.object != "" || w.quarantined[body] == 0 ||
			!counts(w.model.Keys[m.fact.Needs().Key()].Holds(), w.Now) {
			continue
		}
		w.Fault(resent, body)
		w.quarantined[body] = 0
		if m.group != "" {
			w.groups[m.group] = append(slices.DeleteFunc(w.groups[m.group], func(of *message) bool { return of == m }), m)
		}
		w.send(m)
	}
}
