package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// table prints a row for each mutant as soon as it is known.
type table struct {
	out              io.Writer
	markdown         bool
	mutants, killed  int
	blunders, caught int
	notes            []string
}

func newTable(out io.Writer, markdown bool) *table {
	if markdown {
		fmt.Fprintf(out,
			"| mutant | what is wrong | defends | killed by | in world | worlds allowed |\n| --- | --- | --- | --- | ---: | ---: |\n")
	} else {
		fmt.Fprintf(out, "%-28s %-12s %7s %8s  %s\n", "mutant", "killed by", "world", "allowed", "what is wrong")
	}
	return &table{out: out, markdown: markdown}
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
	if t.markdown {
		fmt.Fprintf(t.out, "| %s | %s | %s | %s | %s | %s |\n", m.Name, m.What, m.Defends, killer, world, allowed)
	} else {
		fmt.Fprintf(t.out, "%-28s %-12s %7s %8s  %s\n", m.Name, killer, world, allowed, m.What)
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
	fmt.Fprintf(t.out, "\n%d mutants, %d killed.\n", t.mutants, t.killed)
	if t.blunders > 0 {
		fmt.Fprintf(t.out, "%d blunders, %d caught in worlds without trouble.\n", t.blunders, t.caught)
	}
	for _, note := range t.notes {
		fmt.Fprintln(t.out, note)
	}
}

// knownKills returns the seeds of the worlds that killed the mutants when the table of
// docs/wrong-designs.md was printed.
func knownKills(root string) (map[string]uint64, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "wrong-designs.md"))
	if err != nil {
		return nil, err
	}
	known := map[string]uint64{}
	for _, row := range documented(string(text)) {
		if seed, err := strconv.ParseUint(row[len(row)-2], 10, 64); err == nil {
			known[row[0]] = seed
		}
	}
	return known, nil
}

// tableMark is the line before the table in docs/wrong-designs.md.
const tableMark = "<!-- mutants -->\n"

// documented returns the rows of the table of mutants in a text, without its head.
func documented(text string) (rows [][]string) {
	_, table, _ := strings.Cut(text, tableMark)
	for n, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if n < 2 {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}
