package main

import (
	"strings"

	"github.com/ingot-events/ingot/internal/sim"
)

// Mutant is a wrong design: ours, but for some lines.
type Mutant struct {
	Name string
	What string // one line: what is wrong about it
	// Defends names the claims that it would break: claims 1 to 4 of docs/correctness.md as C1 to
	// C4, and the invariants of docs/design.md.
	Defends string
	// Checks are the promises that it breaks. It is killed when one of them is the first that a
	// world finds broken.
	Checks []sim.Check
	// Seeds is within how many worlds it must be killed; 0 means 500.
	Seeds int
	// Plain: it is wrong even where nothing goes wrong, and must be caught there.
	Plain bool
	Edits []Edit
	// Fields are added to structs, and Helpers to packages. Our own code never uses them.
	Fields  []Field
	Helpers []Helper
}

// Edit is a text in the body of a function, and what the mutant has in its place. The function is
// named by its package, the type of its receiver and its own name: store.put.miss is method miss of
// type put in the one package of that name. Which file or folder it stands in does not matter. Old
// is compared token by token, so that spaces, line breaks and comments do not matter either, and
// must occur once. An empty Old is the beginning of the body.
type Edit struct{ In, Old, New string }

// Field is a field that a struct gets, which is named as a function is.
type Field struct{ In, Text string }

// Helper is declarations that a package gets, with their imports.
type Helper struct{ Package, Text string }

const mostSeeds = 500

func (m *Mutant) seeds() int {
	switch {
	case m.Plain:
		return stillWorlds
	case m.Seeds == 0:
		return mostSeeds
	}
	return m.Seeds
}

func (m *Mutant) names() string {
	names := make([]string, len(m.Checks))
	for i, c := range m.Checks {
		names[i] = string(c)
	}
	return strings.Join(names, ",")
}

// all lists every mutant, then the blunders.
func all() []Mutant {
	var list []Mutant
	for _, part := range [][]Mutant{
		marks(), statements(), receipts(), refusals(), ingest(), answers(), replicas(), lifetimes(), erasures(), generations(), mappings(), blunders(),
	} {
		list = append(list, part...)
	}
	return list
}
