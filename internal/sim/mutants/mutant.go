package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ingot-events/ingot/internal/sim"
)

// Mutant is a wrong design: ours, but for some lines.
type Mutant struct {
	Name string
	What string // one line: what is wrong about it
	// Checks are the promises that it breaks. It is killed when one of them is the first that a world finds broken.
	Checks []sim.Check
	// Seeds is within how many worlds it must be killed; 0 means 500.
	Seeds int
	// Plain: it is wrong even where nothing goes wrong, and must be caught there.
	Plain   bool
	Patches []Patch
}

// Patch is a text of a file that stands in it once, and what the mutant has in its place.
type Patch struct{ File, Old, New string }

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
	for _, part := range [][]Mutant{marks(), folds(), pruning(), receipts(), ingest(), verdicts(), letters(), items(), answers(), refusals(), statements(), lifetimes(), erasures(), generations(), mappings(), replicas(), blunders()} {
		list = append(list, part...)
	}
	return list
}

// files are the mutant's files, by path below root. It fails where a patch no longer applies.
func (m *Mutant) files(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, p := range m.Patches {
		text, read := files[p.File]
		if !read {
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.File)))
			if err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
			}
			text = string(source)
		}
		if n := strings.Count(text, p.Old); n != 1 {
			return nil, fmt.Errorf("mutant %s no longer applies: %s holds this text %d times, not once; write the patch anew:\n%s", m.Name, p.File, n, p.Old)
		}
		files[p.File] = strings.Replace(text, p.Old, p.New, 1)
	}
	return files, nil
}
