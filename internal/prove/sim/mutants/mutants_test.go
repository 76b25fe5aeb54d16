package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

func TestMutantsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all() {
		if names[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		names[m.Name] = true
		if len(m.Checks) == 0 || m.What == "" || m.Defends == "" || len(m.Edits) == 0 || strings.ContainsAny(m.Name, ", |/_") {
			t.Errorf("mutant %q is not complete", m.Name)
		}
		if m.seeds() < 1 || m.seeds() > 4*mostSeeds {
			t.Errorf("mutant %s may take %d worlds; at most %d are allowed", m.Name, m.seeds(), 4*mostSeeds)
		}
	}
}

// TestEachPromiseIsDefended shows that every mutant defends a promise of docs/guarantees.md or an
// invariant of docs/design.md, and that a mutant defends each of these, except the promises that
// docs/correctness.md names. If somebody removed a mutant in favour of another one, a promise could
// lose its defence.
func TestEachPromiseIsDefended(t *testing.T) {
	page := func(name string) string {
		text, err := os.ReadFile("../../../../docs/" + name)
		must.Succeed(t, err)
		return string(text)
	}
	claims := map[string]int{}
	for _, name := range regexp.MustCompile(`(?m)^\| ([PI]\d+) \|`).FindAllStringSubmatch(page("guarantees.md")+page("design.md"), -1) {
		claims[name[1]] = 0
	}
	if len(claims) < 30 {
		t.Fatalf("the documents have the claims %v", claims)
	}
	_, undefended, found := strings.Cut(page("correctness.md"), "so has each promise but ")
	undefended, _, _ = strings.Cut(undefended, ", which ordinary")
	for _, name := range regexp.MustCompile(`P\d+`).FindAllString(undefended, -1) {
		delete(claims, name)
	}
	if !found {
		t.Error("docs/correctness.md does not say which promises no mutant defends")
	}
	for _, m := range all() {
		for claim := range strings.FieldsSeq(m.Defends) {
			if _, ok := claims[claim]; !ok {
				t.Errorf("%s defends %s, which no document claims, or of which docs/correctness.md says that no mutant does", m.Name, claim)
			}
			claims[claim]++
		}
	}
	for claim, mutants := range claims {
		if mutants == 0 {
			t.Errorf("no mutant defends %s", claim)
		}
	}
}

// TestMutantsApply fails if a mutant's text is no longer in our source, or if its result is not Go.
func TestMutantsApply(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	source := newSource(root)
	for _, m := range all() {
		if _, err := source.graft([]Mutant{m}); err != nil {
			t.Error(err)
		}
	}
	if _, err := source.graft(all()); err != nil {
		t.Error(err)
	}
}

// TestMutantsBuild shows that our source with all mutants together is a program.
func TestMutantsBuild(t *testing.T) {
	slow.Test(t, "it builds all mutants")
	root, err := moduleRoot(t.Context())
	must.Succeed(t, err)
	if _, err := (runner{root: root, dir: t.TempDir()}).build(t.Context(), "all", all()); err != nil {
		t.Error(err)
	}
}

func TestChoose(t *testing.T) {
	if _, err := choose("mark-without-lane,nobody", 0, 0); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an unknown name: %v", err)
	}
	two, err := choose("no-own-expiry,mark-without-lane", 0, 0)
	if err != nil || len(two) != 2 || two[0].Name != "no-own-expiry" {
		t.Errorf("%v %v", two, err)
	}
	a, _ := choose("", 6, 7)
	b, _ := choose("", 6, 7)
	if len(a) != 6 {
		t.Fatalf("%d mutants, want 6", len(a))
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			t.Error("the same seed draws others")
		}
	}
	if everything, _ := choose("", 0, 0); len(everything) != len(all()) {
		t.Errorf("%d mutants, want all", len(everything))
	}
}
