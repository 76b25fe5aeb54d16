package main

import (
	"slices"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim"
)

const again = "print it again with: make mutants MUTANTFLAGS=-kills >kills.txt"

// TestKills compares kills.txt with the mutants. It lists them in their order, and a check that is
// meant for a mutant must have killed it, in one of its worlds. Every check must kill at least one
// mutant.
func TestKills(t *testing.T) {
	rows, err := knownKills()
	if err != nil {
		t.Fatal(err)
	}
	list := all()
	if len(rows) != len(list) {
		t.Fatalf("kills.txt has %d mutants, and there are %d; %s", len(rows), len(list), again)
	}
	kills := map[sim.Check]bool{}
	for i, m := range list {
		row := rows[i]
		if row.mutant != m.Name {
			t.Fatalf("row %d of kills.txt is of %s, not of %s; %s", i+1, row.mutant, m.Name, again)
		}
		if !slices.Contains(m.Checks, sim.Check(row.check)) {
			t.Errorf("%s is killed by %q, which it is not meant for; %s", m.Name, row.check, again)
		}
		kills[sim.Check(row.check)] = true
		if row.seed >= uint64(m.seeds()) {
			t.Errorf("%s dies in world %d, and it must die in one of the first %d; %s", m.Name, row.seed, m.seeds(), again)
		}
	}
	for _, check := range sim.Checks() {
		if !kills[check] {
			t.Errorf("no mutant is killed by the check %q: nothing shows that it can fail", check)
		}
	}
}
