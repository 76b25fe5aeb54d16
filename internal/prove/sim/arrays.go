package sim

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
)

// arrays are messages that are arrays of events.
type arrays struct {
	*World
	draw *rand.Rand // draws which messages are arrays
}

// In worlds whose plan has Arrays, a message may be an array of events. Each of them is judged as
// if it had come alone. The outcome of the message is judged by the outcomes of its events.

// planArrays decides whether messages may be arrays. Its draw is its own, so that other worlds stay
// as they are.
func (p *Plan) planArrays() {
	p.Arrays = rand.New(rand.NewPCG(p.Seed, 11)).IntN(4) == 0
}

// notAnObject is an event of an array that can never be stored.
const notAnObject = "7"

// each yields the events of a message: those of the array, or the message itself.
func (m *message) each(yield func(*message) bool) {
	if m.events == nil {
		yield(m)
		return
	}
	for _, e := range m.events {
		if !yield(e) {
			return
		}
	}
}

// eventsOf yields the events of all messages that an invocation was sent, each as often as it was
// sent.
func (w *arrays) eventsOf(inv *invocation) iter.Seq[*message] {
	return func(yield func(*message) bool) {
		for i := range inv.messages {
			m := w.sent[inv.messages[i].Body]
			if m == nil {
				continue
			}
			for e := range m.each {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// countEvents returns how many events these messages have.
func (w *arrays) countEvents(records []events.SQSMessage) (n int) {
	for range w.eventsOf(&invocation{messages: records}) {
		n++
	}
	return n
}

// gather makes arrays of some messages of a burst. A FIFO group keeps its order.
func (w *arrays) gather(burst []*message) (list []*message) {
	if !w.plan.Arrays {
		return burst
	}
	for len(burst) > 0 {
		first := burst[0]
		most := 1 + w.draw.IntN(6)
		if first.malformed || w.draw.IntN(3) > 0 {
			list, burst = append(list, first), burst[1:]
			continue
		}
		var own, rest []*message
		for _, m := range burst {
			if len(own) < most && (!w.plan.FIFO || !m.malformed && m.fact.Group() == first.fact.Group()) {
				own = append(own, m)
			} else {
				rest = append(rest, m)
			}
		}
		all := w.arrayOf(own)
		list, burst = append(list, all), rest
		if w.chanceOf(w.plan.Duplicates) {
			again := *all
			list = append(list, &again)
		}
		if w.chanceOf(w.plan.Poison) {
			list = append(list, &message{body: strings.TrimSuffix(all.body, "]"), malformed: true})
		}
	}
	return list
}

// chanceOf draws as Chance does, from a source of its own, so that worlds without arrays stay as
// they are.
func (w *arrays) chanceOf(p float64) bool { return w.draw.Float64() < p }

// arrayOf returns an array of the events of messages. Now and then one more is among them that can
// never be stored.
func (w *arrays) arrayOf(list []*message) *message {
	all := &message{}
	add := func(e message) {
		e.of, e.crowded = all, false
		all.events = append(all.events, &e)
	}
	for _, m := range list {
		if w.chanceOf(w.plan.Poison) || m.malformed {
			add(message{body: notAnObject, malformed: true})
		}
		if !m.malformed {
			add(*m)
		}
		all.crowded = all.crowded || m.crowded
	}
	var texts []string
	for _, e := range all.events {
		texts = append(texts, e.body)
	}
	all.body = "[" + strings.Join(texts, []string{",", " ,\n"}[w.draw.IntN(2)]) + "]"
	return all
}

// alone returns a copy of a message as it is sent when no array holds it.
func (m *message) alone() *message {
	own := *m
	own.of, own.kept = nil, false
	if own.object != "" {
		own.body, own.object, own.text = own.text, "", ""
	}
	return &own
}

// judgeArray checks the outcome of an array: the outcomes of its events, and the verdict that
// follows from them. An array that was left alone has no outcomes of events.
func (w *arrays) judgeArray(inv *invocation, m *message, o handler.Outcome) {
	verdict := o.Verdict.String()
	if len(o.Events) != len(m.events) && (o.Events != nil || verdict != "Retry") {
		w.Fail(Undeserved, "%s has outcomes of %d events of %s", inv.Name, len(o.Events), m.body)
		return
	}
	var all []string
	for i := range o.Events {
		all = append(all, o.Events[i].Verdict.String())
		w.verdicts.judgeEvent(inv, m.events[i], o.Events[i])
	}
	if o.Events == nil {
		for _, e := range m.events {
			if why := w.verdicts.undeserved(inv, e, "Retry"); why != "" {
				w.Fail(Undeserved, "%s leaves %s alone, but %s", inv.Name, m.body, why)
			}
		}
		all = []string{"Retry"}
	}
	refused := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return reasons[v] == "" })
	fits, failed := !slices.Contains(all, "Retry"), o.Failed
	switch {
	case !fits:
		fits, failed = verdict == "Retry", true
	case len(refused) > 0:
		if fits = verdict == refused[decider(refused)]; !o.Failed {
			w.Faults[arrayKept]++
		}
	default:
		fits, failed = slices.Contains(all, verdict), false
	}
	if !fits || o.Failed != failed {
		w.Fail(Undeserved, "%s says %s of an array whose events are %v; that it goes back is %v: %s", inv.Name, verdict, all,
			o.Failed, m.body)
	}
}

// decider returns which of these verdicts of refused events is that of their array: the first that
// is not Rejected, if there is one.
func decider(refused []string) int {
	return max(0, slices.IndexFunc(refused, func(v string) bool { return v != "Rejected" }))
}

// keep notes which events of an array a letter in quarantine names.
func (m *message) keep(beside string) {
	var n note
	if m == nil || m.events == nil || json.Unmarshal([]byte(beside), &n) != nil {
		return
	}
	for _, i := range n.Events {
		if i >= 0 && i < len(m.events) {
			m.events[i].kept = true
		}
	}
}

// unjustifiedArray returns what is wrong with the note beside an array. The events that it names
// can never be stored, and all others are. The rest of the note is about the first that it names,
// or about one before which it names only events that are Rejected.
func (w *arrays) unjustifiedArray(inv *invocation, m *message, n note) string {
	if len(n.Events) == 0 || !slices.IsSorted(n.Events) || n.Events[0] < 0 || n.Events[len(n.Events)-1] >= len(m.events) {
		return fmt.Sprintf("it names the events %v of %d", n.Events, len(m.events))
	}
	for i, e := range m.events {
		named, is := slices.Contains(n.Events, i), w.refusable(inv, e)
		switch {
		case named && !is:
			return fmt.Sprintf("event %d can be stored", i)
		case !named && w.verdicts.undeserved(inv, e, "Duplicate") != "" && w.verdicts.undeserved(inv, e, "Stale") != "":
			return fmt.Sprintf("event %d is not stored, and the note does not name it", i)
		}
	}
	for _, i := range n.Events {
		if detail, is := strings.CutPrefix(n.Detail, fmt.Sprintf("event [%d] of the array: ", i)); is {
			n.Detail, n.Events = detail, nil
			return w.notes.unjustifiedEvent(inv, m.events[i], n)
		}
		if n.Verdict == "Rejected" || w.verdicts.undeserved(inv, m.events[i], "Rejected") != "" {
			return fmt.Sprintf("it is not about event %d", i)
		}
	}
	return "it is about none of the events that it names"
}

// refusable reports whether an event may be judged as one that can never be stored.
func (w *arrays) refusable(inv *invocation, m *message) bool {
	return slices.ContainsFunc(sortedKeys(reasons), func(v string) bool { return w.verdicts.undeserved(inv, m, v) == "" })
}

// passedBy reports whether a later event of an array may be stored before this one is done with:
// this one can never be stored, and goes to quarantine with the array when the others are stored.
// If the request comes late, this may have been found out at any time before.
func (w *arrays) passedBy(earlier, later *message) bool {
	inv := invocationOf(w.Current)
	if inv == nil {
		inv = &invocation{epoch: newest}
	}
	return earlier.of != nil && earlier.of == later.of && w.refusable(inv, earlier)
}
