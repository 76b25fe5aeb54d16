package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table prints a row for each mutant as it comes.
type table struct {
	out      io.Writer
	markdown bool
	worst    int
	notes    []string
}

func newTable(out io.Writer, markdown bool) *table {
	if markdown {
		fmt.Fprintf(out, "| mutant | what is wrong | killed by | worlds needed | allowed |\n| --- | --- | --- | ---: | ---: |\n")
	} else {
		fmt.Fprintf(out, "%-26s %-12s %7s %7s  %s\n", "mutant", "killed by", "worlds", "allowed", "what is wrong")
	}
	return &table{out: out, markdown: markdown}
}

func (t *table) row(v verdict) {
	m := v.mutant
	killer, worlds := v.Check, fmt.Sprint(v.Worlds)
	if v.err != nil {
		killer, worlds = "NOT KILLED", "-"
		t.notes = append(t.notes, fmt.Sprintf("%s: %v (meant for %s)%s", m.Name, v.err, m.names(), others(v.Others)))
	} else {
		t.worst = max(t.worst, v.Worlds)
	}
	if t.markdown {
		fmt.Fprintf(t.out, "| %s | %s | %s | %s | %d |\n", m.Name, m.What, killer, worlds, m.seeds())
	} else {
		fmt.Fprintf(t.out, "%-26s %-12s %7s %7d  %s\n", m.Name, killer, worlds, m.seeds(), m.What)
	}
}

// others tells which other promises worlds broke on the way, none of which is a kill.
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

func (t *table) end(all, survivors int) {
	fmt.Fprintf(t.out, "\n%d mutants, %d killed; the last of them within %d worlds.\n", all, all-survivors, t.worst)
	for _, note := range t.notes {
		fmt.Fprintln(t.out, note)
	}
}
