package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// TestGather shows that arrays hold the events of a burst, each once, and that a FIFO group keeps
// its order.
func TestGather(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		p := StillPlan(1)
		p.Arrays, p.FIFO = true, fifo
		w := newWorld(p, false)
		var burst []*message
		for i := range 200 {
			f := order(int64(i))
			f.ID = []string{"a1", "b2", "c3"}[i%3]
			m := &message{fact: f}
			w.wholes.spell(m)
			burst = append(burst, m)
		}
		arrays, inside := 0, 0
		of := map[string][]model.Fact{}
		for _, m := range w.arrays.gather(burst) {
			if m.events != nil {
				arrays++
				_, elements, err := w.pipelineOf(newest).Open(envelope.Message{Body: m.body})
				if err != nil || len(elements) != len(m.events) {
					t.Fatalf("%s holds %d events, %v", m.body, len(elements), err)
				}
				for i, element := range elements {
					opened, err := envelope.Open(element)
					if e := m.events[i]; element.Place().String() != e.place || err == nil && opened.Data.Text() != e.carried() {
						t.Errorf("event %s of %s is %s (%v)", e.place, m.body, opened.Data.Text(), err)
					}
				}
				if m.body[0] == '{' {
					inside++
				}
			}
			for e := range m.each {
				of[e.fact.Group()] = append(of[e.fact.Group()], e.fact)
				if fifo && e.fact.Group() != m.events0().Group() {
					t.Errorf("%s is of more than one group", m.body)
				}
			}
		}
		if arrays < 10 || inside == 0 || inside == arrays {
			t.Errorf("there are %d arrays of 200 events, %d inside an object", arrays, inside)
		}
		n := 0
		for _, list := range of {
			n += len(list)
			if fifo && !slices.IsSortedFunc(list, func(a, b model.Fact) int { return int(a.Cents - b.Cents) }) {
				t.Errorf("a group is out of order: %v", list)
			}
		}
		if n != len(burst) {
			t.Errorf("%d events of %d are sent", n, len(burst))
		}
		w.KillAll()
	}
}

// events0 returns the first event of a message.
func (m *message) events0() model.Fact {
	for e := range m.each {
		return e.fact
	}
	return model.Fact{}
}

// TestUnjustifiedArray shows which notes beside an array are right. Of its events, the first is
// stored, the second cannot be stored, the third conflicts with what is stored, and nothing is
// known of the fourth.
func TestUnjustifiedArray(t *testing.T) {
	stored := order(1)
	w, inv := judged(t, []model.Fact{stored}, nil)
	unknown := order(7)
	unknown.ID = "2"
	three := &message{events: []*message{{body: "a", fact: stored, place: "[0]"}, {body: notAnObject, malformed: true, place: "[1]"},
		{body: "c", fact: order(2), place: "[2]"}}}
	four := &message{events: append(slices.Clone(three.events), &message{body: "d", fact: unknown, place: "[3]"})}
	poison := note{Verdict: "Poison", Reason: "not-an-object", Detail: "event [1] of the message: it is a number"}
	for name, c := range map[string]struct {
		m      *message
		events []int
		change func(*note)
		want   string
	}{
		"right":                 {three, []int{1, 2}, nil, ""},
		"none is named":         {three, nil, nil, "it names the events [] of 3"},
		"one is not named":      {three, []int{1}, nil, "event [2] is not stored, and the note does not name it"},
		"a stored one is named": {three, []int{0, 1, 2}, nil, "event [0] can be stored"},
		"one that is not there": {three, []int{1, 2, 3}, nil, "it names the events [[1] [2] [3]] of 3"},
		"out of order":          {three, []int{2, 1}, nil, "it names the events [[2] [1]] out of order"},
		"too early":             {four, []int{1, 2}, nil, "event [3] is not stored, and the note does not name it"},
		"about another one": {three, []int{1, 2}, func(n *note) {
			n.Detail = strings.Replace(n.Detail, "1", "2", 1)
		}, "it is not about event [1]"},
		"another reason": {three, []int{1, 2}, func(n *note) { n.Reason = "undecodable" }, "that is not a reason for it"},
		"another verdict": {three, []int{1, 2}, func(n *note) {
			n.Verdict = "Expired"
		}, "Poison is for what cannot be read, and for that alone"},
	} {
		n := poison
		for _, i := range c.events {
			n.Events = append(n.Events, fmt.Sprintf("[%d]", i))
		}
		if c.change != nil {
			c.change(&n)
		}
		if got := w.arrays.unjustifiedArray(inv, c.m, n); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestKeptEvents shows that an array that is kept for one of its events is not done with for that
// alone.
func TestKeptEvents(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	t.Cleanup(w.KillAll)
	all := &message{body: "[a,7]"}
	all.events = []*message{{body: "a", fact: order(1), of: all, place: "[0]"}, {body: notAnObject, malformed: true, of: all, place: "[1]"}}
	w.quarantined[all.body] = 1
	all.keep(`{"events":["[1]","[9]"]}`)
	if all.events[0].kept || !all.events[1].kept || w.unsettled(all.events[1]) != "" {
		t.Errorf("kept: %+v", all.events)
	}
	if why := w.unsettled(all); !strings.HasPrefix(why, "of its event a: nothing of its key was ever stored") {
		t.Errorf("%q", why)
	}
	w.model.Remember(&model.Change{New: &model.Image{Fact: order(1)}})
	if why := w.unsettled(all); why != "" {
		t.Errorf("%q", why)
	}
}
