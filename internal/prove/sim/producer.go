package sim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// message is what a producer sent.
type message struct {
	body      string
	payload   string // inside the body, if the body is an envelope
	fact      model.Fact
	malformed bool
	group     string
	crowded   bool // it has ten attributes
	// events are those of an array; nil: the message is one event.
	events []*message
	of     *message // the array that an event is in; nil: none
	place  string   // where it is there
	// object is where the text of the message is, if it is a pointer.
	object, text string
	kept         bool // a letter in quarantine, or a person, keeps the array for this event
}

var (
	merchants = []string{"m1", "m2", "m#3"}
	customers = []string{"", "c1", "c#2"} // an event without a customer is in no index of customers
)

// produce sends one burst. It has new events, and among them copies, conflicts, poison and events
// that come too late.
func (w *World) produce(phase int) {
	for _, m := range w.pointers.point(w.arrays.gather(w.script(phase))) {
		if w.plan.Still {
			w.Sleep(5 * time.Minute)
		}
		w.pointers.place(m)
		w.send(m)
		w.Sleep(time.Duration(w.Rng.IntN(4000)) * time.Millisecond)
	}
}

// burst makes up the messages of a burst.
func (w *World) burst(phase int) (burst []*message) {
	id := func() string { return fmt.Sprintf("%d-%d", phase, w.Rng.IntN(w.plan.Messages)) }
	for i := range w.plan.Messages {
		f := model.Fact{Type: "order", ID: fmt.Sprintf("%d-%d", phase, i), Merchant: merchants[w.Rng.IntN(len(merchants))],
			Cents: w.Rng.Int64N(2000) - 200,
			At:    w.Now.Add(-time.Duration(w.Rng.IntN(20*3600)) * time.Second).Format(time.RFC3339)}
		f.Customer, f.Gift = customers[w.Rng.IntN(len(customers))], w.Chance(0.3)
		if w.Chance(w.plan.Parcels) {
			f.Type, f.ID, f.Rev = "parcel", fmt.Sprintf("%d-%d", phase, w.Rng.IntN(6)), w.Rng.Int64N(8)
		}
		if w.plan.Values {
			f.At = f.Time().Truncate(time.Hour).Format(time.RFC3339)
			if w.Chance(0.1) {
				f.Cents = 1000 // where a bucket begins
			}
		}
		if w.Chance(w.plan.Late) {
			left := time.Duration(w.Rng.IntN(3*3600)-3600) * time.Second
			if w.plan.Faults.Hang > 0 {
				left = early + time.Duration(2*len(burst)+w.Rng.IntN(30))*time.Second
			}
			f.At = w.Now.Add(left - w.plan.retain()).Format(time.RFC3339)
		}
		w.requires.addPayment(&f, burst)
		w.ends.addEnd(&f)
		w.byPut.takeMore(&f)
		w.wholes.addSomeLines(&f)
		w.claims.addSomeCoupons(&f)
		w.states.addSomeShelves(&f)
		w.packing.addNote(&f)
		m := &message{fact: f}
		w.wholes.spell(m)
		if w.Chance(w.plan.Poison) {
			m = &message{body: fmt.Sprintf(`{"type":"order","id":%q,`, id()), malformed: true}
		}
		burst = append(burst, m)
		m.crowded = w.Chance(w.plan.Crowded)
		if w.Chance(w.plan.Conflicts) && !m.malformed {
			if w.Chance(0.5) {
				f.Cents++
			} else {
				f.Gift = !f.Gift // everything in its index keys stays the same
			}
			w.wholes.otherLines(&f)
			other := &message{fact: f}
			w.wholes.spell(other)
			other.crowded = w.Chance(w.plan.Crowded)
			burst = append(burst, other)
		}
	}
	burst = append(burst, w.copies(phase)...)
	for n := len(burst); n > 0; n-- {
		if w.Chance(w.plan.Duplicates) {
			again := *burst[w.Rng.IntN(len(burst))]
			if !again.malformed && w.Chance(0.5) {
				w.wholes.spell(&again)
			}
			at := w.Rng.IntN(len(burst) + 1)
			burst = append(burst[:at], append([]*message{&again}, burst[at:]...)...)
		}
	}
	return burst
}

// copies returns messages of earlier bursts that a producer sends again days later. By then, some
// are past their time.
func (w *World) copies(phase int) (list []*message) {
	if phase == 1 || w.plan.Copies == 0 {
		return nil
	}
	from := w.log
	if closing := w.closing(); len(closing) > 0 && w.Chance(0.3) {
		from = closing
	}
	if w.plan.Longer > 0 {
		if returning := w.lifetime.returning(); len(returning) > 0 && w.Chance(0.5) {
			from = returning
		}
	}
	for range w.Rng.IntN(w.plan.Copies + 1) {
		again := from[w.Rng.IntN(len(from))].alone()
		if !again.malformed && w.Chance(0.5) {
			w.wholes.spell(again)
		}
		list = append(list, again)
	}
	return list
}

// closing lists the messages whose events may no longer be stored, but are not yet swept.
func (w *World) closing() (list []*message) {
	for _, m := range w.log {
		if m.malformed {
			continue
		}
		if left := w.lifetime.left(m.fact); left <= 0 && left > -early {
			list = append(list, m)
		}
	}
	return list
}

func (w *World) send(m *message) {
	in := &sqs.SendMessageInput{QueueUrl: &w.ingot.Queue, MessageBody: &m.body, MessageAttributes: m.attributes()}
	w.Tracef("sends %s", m.body)
	w.stats.Sent++
	if m.events != nil {
		w.Fault(inArray, m.body)
	}
	known := w.sent[m.body] != nil
	for e := range m.each {
		w.log = append(w.log, e)
		if first := w.firstSent[e.fact]; first != nil && !e.malformed && !w.Now.Before(e.fact.Time().Add(w.lifetime.lifetime(e.fact))) {
			w.Fault(afterLife, e.body)
		}
		if w.plan.FIFO {
			if e.group = "poison"; !e.malformed {
				e.group = e.fact.Group()
				m.group = e.group // those of an array are all in one group
			}
		}
		if known {
			continue
		}
		if w.plan.Offload > 0 {
			w.model.Texts[sha256.Sum256([]byte(e.carried()))] = e.carried()
		}
		if w.carried[e.carried()] == nil {
			w.carried[e.carried()] = e
		}
		if e.fact.Lines != "" {
			w.orders[e.fact.ID] = append(w.orders[e.fact.ID], e)
		}
		if w.firstSent[e.fact] == nil {
			w.firstSent[e.fact] = e
			w.groups[e.group] = append(w.groups[e.group], e)
		}
	}
	if !known {
		w.sent[m.body] = m
	}
	if w.plan.FIFO {
		in.MessageGroupId, in.MessageDeduplicationId = &m.group, aws.String(fmt.Sprint(w.stats.Sent))
	}
	if _, err := w.ingot.Engine.SQS().SendMessage(context.Background(), in); err != nil {
		w.Fail(Broken, "send: %v", err)
	}
}
