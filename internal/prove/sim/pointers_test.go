package sim

import (
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// TestSeen shows what an invocation can have met of an object that is put, removed and put again.
func TestSeen(t *testing.T) {
	p := StillPlan(1)
	p.Pointers = true
	w := newWorld(p, false)
	t.Cleanup(w.KillAll)
	m := &message{body: "pointer", object: "o-1"}
	w.pointers.objects["o-1"] = &largeObject{text: "{}"}
	event := &message{of: m}
	check := func(when string, began int, there, missing bool) {
		t.Helper()
		for _, m := range []*message{m, event} {
			if is, not := w.pointers.seen(&invocation{moves: began}, m); is != there || not != missing {
				t.Errorf("%s: there %v, missing %v", when, is, not)
			}
		}
	}
	check("before it was put", 0, false, true)
	w.pointers.putLarge("o-1")
	check("put meanwhile", 0, true, true)
	check("there all the time", 1, true, false)
	w.pointers.removeLarge("o-1")
	check("removed meanwhile", 1, true, true)
	check("gone", 2, false, true)
	w.pointers.putLarge("o-1")
	check("back meanwhile", 2, true, true)
	check("back", 3, true, false)
	pointing := &message{object: "o-1", malformed: true}
	if why := w.verdicts.undeserved(&invocation{moves: 2, began: w.model.Records}, pointing, "Poison"); why != "" {
		t.Errorf("it was there, and %s", why)
	}
	w.pointers.removeLarge("o-1")
	if why := w.verdicts.undeserved(&invocation{moves: 4}, &message{object: "o-1", malformed: true},
		"Poison"); why != "its text was never there to be read" {
		t.Errorf("%q", why)
	}
}

// TestPoint shows that a pointer keeps what its text says, also if that is an array.
func TestPoint(t *testing.T) {
	p := StillPlan(1)
	p.Pointers, p.Arrays = true, true
	w := newWorld(p, false)
	t.Cleanup(w.KillAll)
	var burst []*message
	for i := range 300 {
		m := &message{fact: order(int64(i))}
		w.wholes.spell(m)
		burst = append(burst, m)
	}
	pointers, events, arrays := 0, 0, 0
	for _, m := range w.pointers.point(w.arrays.gather(burst)) {
		for e := range m.each {
			if events++; m.object != "" && e.pointer() != m.object {
				t.Errorf("an event of %s is in %q", m.object, e.pointer())
			}
			if got, err := model.Read(e.carried()); err != nil || got != e.fact {
				t.Errorf("%s says %+v, %v", e.carried(), got, err)
			}
			if alone := e.alone(); alone.body != e.carried() || alone.pointer() != "" {
				t.Errorf("alone it is %+v", alone)
			}
		}
		if m.object != "" {
			if pointers++; m.events != nil {
				arrays++
			}
			if w.pointers.objects[m.object].text == m.body {
				t.Errorf("%s points to itself", m.body)
			}
		}
	}
	if events != len(burst) || pointers < 30 || arrays < 5 {
		t.Errorf("%d events of %d, %d pointers, %d of them to arrays", events, len(burst), pointers, arrays)
	}
}
