package main

import (
	"slices"
	"strings"
	"testing"
)

// TestBudgets shows that the project is within its budgets. `make house` prints all numbers.
func TestBudgets(t *testing.T) {
	numbers, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, n := range numbers {
		measured[n.what] = true
		switch {
		case n.now == 0 && n.most > 0:
			t.Errorf("%s: 0; nothing was measured", n.what)
		case n.now > n.most:
			t.Errorf("%s: %d, and at most %d are allowed; to raise a budget is a decision\n%s", n.what, n.now, n.most,
				strings.Join(n.largest, "\n"))
		}
	}
	for what, b := range budgets {
		if !measured[what] {
			t.Errorf("the budget of %q is of no number", what)
		}
		if (b.why != "") != (b.goal > 0 && b.goal < b.most) {
			t.Errorf("%s: a budget over its goal says why, and no other: %+v", what, b)
		}
	}
}

func TestRead(t *testing.T) {
	s, err := read("a/x.go", []byte(`// Package x is a comment.
package x

/* A comment
of two lines. */
type Store struct{} // behind code

var text = `+"`one\ntwo`"+` + "three"

func (s *Store) method() {}

func first(s Store, n int) {
	_ = n // 	`+strings.Repeat("x", wideLine)+`
}

func neither() { _ = "`+strings.Repeat("é", wideLine)+`" }
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.code != 9 || s.wide != 1 || s.tokens != 47 || s.test {
		t.Errorf("%d lines of code, %d wide, %d tokens, a test: %v", s.code, s.wide, s.tokens, s.test)
	}
	want := []function{{"method", 1, "Store"}, {"first", 3, "Store"}, {"neither", 1, ""}}
	if !slices.Equal(s.funcs, want) {
		t.Errorf("the functions are %v, want %v", s.funcs, want)
	}
	if n := methods([]*source{s}, "a", "Store"); n != 2 {
		t.Errorf("%d methods on Store, want 2", n)
	}
}

func TestLargest(t *testing.T) {
	n := top("files", map[string]int{"b": 7, "a": 7, "c": 1, "d": 0})
	if n.now != 7 || len(n.largest) != shown || !strings.HasSuffix(n.largest[0], " a") {
		t.Errorf("%+v", n)
	}
}

func TestRoom(t *testing.T) {
	for folder, want := range map[string]string{"store": "store", "internal/prove/sim/mutants": "internal/prove", "cmd/ingot": "cmd",
		".": "."} {
		if got := room(folder); got != want {
			t.Errorf("%s is in %s, want %s", folder, got, want)
		}
	}
}

func TestDesigns(t *testing.T) {
	s, err := read("internal/prove/sim/mutants/moves.go", []byte(`package main

var list = []Mutant{{Name: "a", What: "Name"}, {
	Name: "b"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if n := designs([]*source{s}); n.now != 2 {
		t.Errorf("%d wrong designs, want 2", n.now)
	}
	if n := rooms([]*source{s, s}); n.now != 1 {
		t.Errorf("%d rooms, want 1", n.now)
	}
}
