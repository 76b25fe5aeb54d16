package sim

import "testing"

// TestSpend: the bound on writes holds for what the handlers may do, and is broken by one write more.
func TestSpend(t *testing.T) {
	type write struct {
		table, pk string
		accepted  bool
	}
	order := func(accepted bool) write { return write{eventsTable, "ORDER#1", accepted} }
	parcel := func(accepted bool) write { return write{eventsTable, "PARCEL#1", accepted} }
	total := func(accepted bool) write { return write{totals, "A#daily#1#0#m1", accepted} }
	tests := map[string]struct {
		inv    invocation
		writes []write
		broken bool
	}{
		"an order once":                        {invocation{copies: 1}, []write{order(true)}, false},
		"an order twice":                       {invocation{copies: 1}, []write{order(true), order(false)}, true},
		"an order twice after a lost answer":   {invocation{copies: 1, faults: 1}, []write{order(true), order(false)}, false},
		"copies in a FIFO batch":               {invocation{copies: 2}, []write{order(true), order(false)}, false},
		"a parcel put and replaced":            {invocation{copies: 1}, []write{parcel(false), parcel(true)}, false},
		"a parcel asked for three times":       {invocation{copies: 1}, []write{parcel(false), parcel(false), parcel(false)}, true},
		"a total whose mark and maximum moved": {invocation{copies: 1}, []write{total(false), total(false), total(true)}, false},
		"a total written twice":                {invocation{copies: 1}, []write{total(true), total(true)}, true},
		"a total asked for without end":        {invocation{copies: 1}, []write{total(false), total(false), total(false), total(false)}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(StillPlan(1), false)
			defer w.killAll()
			w.model.marks = true
			test.inv.spent = map[string]*spent{}
			w.current = &task{of: &test.inv}
			for _, one := range test.writes {
				w.dynamo.spend(one.table, one.pk, "", one.accepted)
			}
			if broken := w.failure != nil; broken != test.broken {
				t.Errorf("broken is %v: %v", broken, w.failure)
			} else if broken && w.failure.Check != Cost {
				t.Errorf("the wrong check: %v", w.failure)
			}
		})
	}
}
