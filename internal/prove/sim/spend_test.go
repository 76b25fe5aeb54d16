package sim

import (
	"testing"
)

// TestSpend shows that what the handlers may do keeps the bounds on writes and reads, and that one
// more request breaks them.
func TestSpend(t *testing.T) {
	type write struct {
		table, pk string
		accepted  bool
	}
	const read = "read" // instead of a table
	order := func(accepted bool) write { return write{eventsTable, "ORDER#1", accepted} }
	parcel := func(accepted bool) write { return write{eventsTable, "PARCEL#1", accepted} }
	total := func(accepted bool) write { return write{totals, "A#daily#1#0#m1", accepted} }
	looks := write{read, "ORDER#1", false}
	receipt := func(accepted bool) write { return write{totals, "R#1", accepted} }
	troubled := invocation{copies: 1}
	troubled.Faults = 1
	tests := map[string]struct {
		inv    invocation
		writes []write
		broken bool
	}{
		"an order once":                        {invocation{copies: 1}, []write{order(true)}, false},
		"an order twice":                       {invocation{copies: 1}, []write{order(true), order(false)}, true},
		"an order twice after a lost answer":   {troubled, []write{order(true), order(false)}, false},
		"copies in a FIFO batch":               {invocation{copies: 2}, []write{order(true), order(false)}, false},
		"a parcel put and replaced":            {invocation{copies: 1}, []write{parcel(false), parcel(true)}, false},
		"a parcel asked for three times":       {invocation{copies: 1}, []write{parcel(false), parcel(false), parcel(false)}, true},
		"a total whose mark and maximum moved": {invocation{copies: 1}, []write{total(false), total(false), total(true)}, false},
		"a total written twice":                {invocation{copies: 1}, []write{total(true), total(true)}, true},
		"a total asked for without end": {invocation{copies: 1}, []write{total(false), total(false), total(false), total(false)},
			true},
		"a total asked for when written":    {invocation{copies: 1}, []write{total(true), total(false)}, true},
		"the same after a lost answer":      {troubled, []write{total(true), total(false)}, false},
		"a change whose maximum moved":      {invocation{copies: 1}, []write{receipt(false), receipt(false), receipt(true)}, false},
		"a change asked for when counted":   {invocation{copies: 1}, []write{receipt(true), receipt(false)}, true},
		"the same when its answer was lost": {troubled, []write{receipt(true), receipt(false)}, false},
		"a change asked for without end": {invocation{copies: 1},
			[]write{receipt(false), receipt(false), receipt(false), receipt(false)}, true},
		"an order met and read":             {invocation{copies: 1}, []write{order(false), looks}, false},
		"an order read first":               {invocation{copies: 1}, []write{looks, order(true)}, true},
		"an order read when stored":         {invocation{copies: 1}, []write{order(true), looks}, true},
		"an order read twice":               {invocation{copies: 1}, []write{order(false), looks, looks}, true},
		"a payload read without need":       {invocation{copies: 1}, []write{order(false), looks, {read, "ORDER#1", true}}, true},
		"an order read again after a fault": {troubled, []write{order(false), looks, looks}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(StillPlan(1), false)
			defer w.KillAll()
			w.model.Marks = true
			test.inv.spent = map[string]*spent{}
			test.inv.Notes = &test.inv
			w.Current = &task{Of: &test.inv.Invocation}
			for _, one := range test.writes {
				switch {
				case one.table == read:
					w.dynamo.spendRead(one.pk, one.accepted)
				case one == receipt(one.accepted):
					w.dynamo.spendReceipts([]string{one.pk}, one.accepted)
				default:
					w.dynamo.spend(one.table, one.pk, "", one.accepted)
				}
			}
			if broken := w.Failure != nil; broken != test.broken {
				t.Errorf("broken is %v: %v", broken, w.Failure)
			} else if broken && w.Failure.Check != Cost {
				t.Errorf("the wrong check: %v", w.Failure)
			}
		})
	}
}
