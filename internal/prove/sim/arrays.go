package sim

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
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

const (
	// notAnObject is an event of an array that can never be stored.
	notAnObject = "7"
	// noEvents is an object that lacks the array that it should have.
	noEvents = `{"merchant":"m1"}`
	// unwanted is an event of a type that the pipeline drops.
	unwanted = `{"type":"unwanted.7","cents":1}`
)

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
		if w.chanceOf(w.plan.Poison) {
			list = append(list, &message{body: unwanted, malformed: true})
		}
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
			list = append(list, &message{body: all.body[:len(all.body)-1], malformed: true})
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
			add(message{body: []string{notAnObject, unwanted}[w.draw.IntN(2)], malformed: true})
		}
		if !m.malformed {
			add(*m)
		}
		all.crowded = all.crowded || m.crowded
	}
	if w.draw.IntN(2) == 0 && !slices.ContainsFunc(all.events, func(e *message) bool { return e.payload != "" }) {
		w.inside(all)
		return all
	}
	var texts []string
	for i, e := range all.events {
		e.place = fmt.Sprintf("[%d]", i)
		texts = append(texts, e.body)
	}
	all.body = "[" + strings.Join(texts, w.comma()) + "]"
	return all
}

func (w *arrays) comma() string { return []string{",", " ,\n"}[w.draw.IntN(2)] }

// delivery is an object with an array of events.
type delivery struct {
	merchant string // the member that its events lack; empty: there is none
	texts    []string
}

// inside writes events into arrays inside an object. Events that follow each other and have one
// merchant may be in one of the arrays, and only the object around it names the merchant.
func (w *arrays) inside(all *message) {
	var list []delivery
	events := all.events
	all.events = nil
	for _, e := range events {
		if w.chanceOf(w.plan.Poison) {
			all.events = append(all.events,
				&message{body: noEvents, malformed: true, of: all, place: fmt.Sprintf("deliveries[%d]", len(list))})
			list = append(list, delivery{})
		}
		merchant, text := withoutMerchant(e.body)
		last := len(list) - 1
		if last < 0 || list[last].texts == nil || w.draw.IntN(3) == 0 ||
			merchant != "" && list[last].merchant != "" && merchant != list[last].merchant {
			list, last = append(list, delivery{}), last+1
		}
		d := &list[last]
		if merchant != "" {
			d.merchant, e.payload = merchant, "{"+merchant+","+text[1:]
		}
		e.place = fmt.Sprintf("deliveries[%d].events[%d]", last, len(d.texts))
		d.texts, all.events = append(d.texts, text), append(all.events, e)
	}
	var texts []string
	for _, d := range list {
		members := []string{`"events":[` + strings.Join(d.texts, w.comma()) + "]", d.merchant}
		switch {
		case d.texts == nil:
			texts = append(texts, noEvents)
			continue
		case d.merchant == "":
			members = members[:1]
		}
		w.draw.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		texts = append(texts, "{"+strings.Join(members, ",")+"}")
	}
	all.body = `{"deliveries":[` + strings.Join(texts, w.comma()) + `]}`
}

// withoutMerchant takes the member that names the merchant out of the text of an event.
func withoutMerchant(body string) (merchant, text string) {
	doc, err := event.ParseDocument(body)
	if err != nil {
		panic(err) // an event of an array is JSON
	}
	root := doc.Root()
	merchant = root.Spelled("merchant")
	if merchant == "" {
		return "", body
	}
	var rest []string
	for name := range root.Members() {
		if name != "merchant" {
			rest = append(rest, root.Spelled(name))
		}
	}
	return merchant, "{" + strings.Join(rest, ",") + "}"
}

// unwanted reports whether the pipeline drops the event.
func (m *message) unwanted() bool { return m.carried() == unwanted }

// alone returns a copy of a message as it is sent when no array holds it.
func (m *message) alone() *message {
	own := *m
	own.of, own.kept = nil, false
	if strings.HasPrefix(own.place, "deliveries") && own.payload != "" {
		own.body, own.payload = own.payload, ""
	}
	if own.body == noEvents {
		bad := own
		own.body, bad.of, bad.place = `{"deliveries":[`+noEvents+`]}`, &own, "deliveries[0]"
		own.events = []*message{&bad}
	}
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
	for _, e := range m.events {
		e.kept = e.kept || slices.Contains(n.Events, e.place)
	}
}

// unjustifiedArray returns what is wrong with the note beside an array. The events that it names
// can never be stored, and all others are. The rest of the note is about the first that it names,
// or about one before which it names only events that are Rejected.
func (w *arrays) unjustifiedArray(inv *invocation, m *message, n note) string {
	named := slices.DeleteFunc(slices.Clone(m.events), func(e *message) bool { return !slices.Contains(n.Events, e.place) })
	if len(named) == 0 || len(named) != len(n.Events) {
		return fmt.Sprintf("it names the events %v of %d", n.Events, len(m.events))
	}
	for i, e := range named {
		switch {
		case n.Events[i] != e.place:
			return fmt.Sprintf("it names the events %v out of order", n.Events)
		case !w.refusable(inv, e):
			return fmt.Sprintf("event %s can be stored", e.place)
		}
	}
	for _, e := range m.events {
		if !slices.Contains(named, e) && !e.unwanted() && w.verdicts.undeserved(inv, e, "Duplicate") != "" &&
			w.verdicts.undeserved(inv, e, "Stale") != "" {
			return fmt.Sprintf("event %s is not stored, and the note does not name it", e.place)
		}
	}
	for _, e := range named {
		if detail, is := strings.CutPrefix(n.Detail, fmt.Sprintf("event %s of the message: ", e.place)); is {
			n.Detail, n.Events = detail, nil
			return w.notes.unjustifiedEvent(inv, e, n)
		}
		if n.Verdict == "Rejected" || w.verdicts.undeserved(inv, e, "Rejected") != "" {
			return fmt.Sprintf("it is not about event %s", e.place)
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
