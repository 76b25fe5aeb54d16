package main

import (
	"strings"

	"github.com/ingot-events/ingot/internal/prove/sim"
)

// Mutant is a wrong design. It is our code with some lines changed.
type Mutant struct {
	Name string
	What string // one line: what is wrong about it
	// Defends names what the mutant would break: promises of docs/guarantees.md and invariants of
	// docs/design.md, by their numbers.
	Defends string
	// Checks are the promises that the mutant breaks. It is killed if a world breaks one of them
	// before any other promise.
	Checks []sim.Check
	// Seeds is the number of worlds within which the mutant must be killed; 0 means 500.
	Seeds int
	// Plain says that the mutant is wrong even if nothing goes wrong. It must be caught in worlds
	// without trouble.
	Plain bool
	// Worlds says where it is hunted: "moving", in which a live table moves, "chain", in which one
	// Ingot publishes to another, "draining", in which a tool asks how far the stream is read, or
	// empty, in which one Ingot runs.
	Worlds string
	Edits  []Edit
	// Fields are added to structs, and Helpers to packages. Our own code never uses them.
	Fields  []Field
	Helpers []Helper
}

// Edit replaces a text in the body of a function. In names the function by its package, the type of
// its receiver and its own name: store.put.miss is the method miss of type put in the package
// store. The package's name must be unique. The file and folder of the function do not matter. Old
// is compared token by token, so spaces, line breaks and comments do not matter. It must occur
// exactly once. An empty Old stands for the beginning of the body.
type Edit struct{ In, Old, New string }

// edit returns one edit, which is all that most mutants need.
func edit(in, old, new string) []Edit { return []Edit{{in, old, new}} }

// checks returns the promises that a mutant breaks.
func checks(list ...sim.Check) []sim.Check { return list }

// Field adds a field to a struct. In names the struct in the same way as an [Edit] names a
// function.
type Field struct{ In, Text string }

// Helper adds declarations, with their imports, to a package.
type Helper struct{ Package, Text string }

// mostSeeds is how many worlds a mutant may take. One that needs two rare things at once may take
// four times as many.
const mostSeeds = 500

func (m *Mutant) seeds() int {
	switch {
	case m.Plain:
		return 10 * stillWorlds
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

// all returns every mutant, and then the blunders.
func all() []Mutant {
	var list []Mutant
	for _, part := range [][]Mutant{
		marks(), values(), statements(), receipts(), refusals(), ingest(), answers(), replicas(), lifetimes(), erasures(), generations(),
		mappings(), verifying(), questions(), wholes(), states(), requires(), claims(), packing(), byPut(), arrays(), pointers(), offload(),
		blunders(), moves(), publishing(), drainings(),
	} {
		list = append(list, part...)
	}
	return list
}
