package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table prints a row for each mutant as soon as it is known.
type table struct {
	out              io.Writer
	kills            bool // as kills.txt has them
	mutants, killed  int
	blunders, caught int
	notes            []string
}

func newTable(out io.Writer, kills bool) *table {
	if !kills {
		fmt.Fprintf(out, "%-28s %-8s %-12s %7s %9s  %s\n", "mutant", "defends", "killed by", "world", "allowed", "what is wrong")
	}
	return &table{out: out, kills: kills}
}

func (t *table) row(v verdict) {
	t.count(v)
	m := v.mutant
	killer, world, allowed := v.Check, fmt.Sprint(v.Seed), fmt.Sprint(m.seeds())
	if v.err != nil {
		killer, world = "NOT KILLED", "-"
		t.notes = append(t.notes, fmt.Sprintf("%s: %v (meant for %s)%s", m.Name, v.err, m.names(), others(v.Others)))
	}
	if m.Plain {
		allowed += " quiet"
	}
	if t.kills {
		fmt.Fprintln(t.out, m.Name, killer, world)
	} else {
		fmt.Fprintf(t.out, "%-28s %-8s %-12s %7s %9s  %s\n", m.Name, m.Defends, killer, world, allowed, m.What)
	}
}

func (t *table) count(v verdict) {
	caught := 0
	if v.err == nil {
		caught = 1
	}
	if v.mutant.Plain {
		t.blunders, t.caught = t.blunders+1, t.caught+caught
		return
	}
	t.mutants, t.killed = t.mutants+1, t.killed+caught
}

// survivors returns how many were not killed.
func (t *table) survivors() int { return t.mutants - t.killed + t.blunders - t.caught }

// others lists which other promises worlds broke on the way. None of those is a kill.
func others(checks map[string]int) string {
	var names []string
	for name, n := range checks {
		names = append(names, fmt.Sprintf("%s in %d worlds", name, n))
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; other promises broken: " + strings.Join(names, ", ")
}

func (t *table) end() {
	if t.kills && len(t.notes) == 0 {
		return
	}
	fmt.Fprintf(t.out, "\n%d mutants, %d killed.\n", t.mutants, t.killed)
	if t.blunders > 0 {
		fmt.Fprintf(t.out, "%d blunders, %d caught in worlds without trouble.\n", t.blunders, t.caught)
	}
	for _, note := range t.notes {
		fmt.Fprintln(t.out, note)
	}
}

// kill is a row of kills.txt: a check, and the seed of a world in which it killed a mutant.
type kill struct {
	mutant, check string
	seed          uint64
}

//go:embed kills.txt
var kills string

// knownKills returns the rows of kills.txt.
func knownKills() (list []kill, err error) {
	for line := range strings.Lines(kills) {
		var k kill
		if _, err := fmt.Sscan(line, &k.mutant, &k.check, &k.seed); err != nil {
			return nil, fmt.Errorf("kills.txt: %q is not a mutant, a check and a seed: %w", line, err)
		}
		list = append(list, k)
	}
	return list, nil
}
