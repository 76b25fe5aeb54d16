package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim"
)

const again = "print it again with: make mutants MUTANTFLAGS=-markdown"

var totals = regexp.MustCompile(`"(\d+) mutants, (\d+) killed"; "(\d+) blunders, (\d+)\s+caught`)

// TestDocumentHasAllMutants compares the table in docs/wrong-designs.md with the mutants. The table
// must list them in this order. Each row says what is wrong about the mutant, and a check that is
// meant for the mutant must have killed it. The sentence before the table must add it up. Every
// check must kill at least one mutant.
func TestDocumentHasAllMutants(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/wrong-designs.md")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), tableMark)
	if !found {
		t.Fatal("docs/wrong-designs.md has no table marked mutants")
	}
	list, plain := all(), 0
	kills := map[sim.Check]bool{}
	rows := documented(string(text))
	for i := range max(len(list), len(rows)) {
		switch {
		case i >= len(list):
			t.Fatalf("the table's row %d, %s, is of no mutant; %s", i+1, rows[i][0], again)
		case i >= len(rows):
			t.Fatalf("the table ends before %s; %s", list[i].Name, again)
		}
		m, row := list[i], rows[i]
		allowed := fmt.Sprint(m.seeds())
		if m.Plain {
			allowed, plain = allowed+" quiet", plain+1
		}
		if len(row) != 6 || row[0] != m.Name || row[1] != m.What || row[2] != m.Defends || row[5] != allowed {
			t.Fatalf("row %d is %q, not of %q, %q, which defends %s, within %s; %s", i+1, row, m.Name, m.What, m.Defends, allowed, again)
		}
		if !slices.Contains(m.Checks, sim.Check(row[3])) {
			t.Errorf("%s is killed by %q, which it is not meant for; %s", m.Name, row[3], again)
		}
		kills[sim.Check(row[3])] = true
		if seed, err := strconv.Atoi(row[4]); err != nil || seed < 0 || seed >= m.seeds() {
			t.Errorf("%s dies in world %q, and it must die in one of the first %d; %s", m.Name, row[4], m.seeds(), again)
		}
	}
	mutants := len(list) - plain
	want := fmt.Sprint([]int{mutants, mutants, plain, plain})
	m := totals.FindStringSubmatch(before[max(0, len(before)-400):])
	if m == nil || fmt.Sprint(m[1:]) != want {
		t.Errorf("the sentence before the table says %q, and the table adds up to %s", m, want)
	}
	for _, check := range sim.Checks() {
		if !kills[check] {
			t.Errorf("no mutant is killed by the check %q: nothing shows that it can fail", check)
		}
	}
}
