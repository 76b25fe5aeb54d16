package main

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestBudgets shows that the project is within its budgets. `make house` prints all numbers.
func TestBudgets(t *testing.T) {
	numbers, err := measure("../..")
	must.Succeed(t, err)
	measured := map[string]bool{}
	for _, n := range numbers {
		measured[n.what] = true
		if n.held && n.now == 0 && n.most > 0 {
			t.Errorf("%s: 0; nothing was measured", n.what)
		}
		if n.over() {
			t.Errorf("%s: %d, and at most %d are allowed\n%s", n.what, n.now, n.allowed(), strings.Join(n.largest, "\n"))
		}
	}
	for what, b := range budgets {
		if !measured[what] {
			t.Errorf("the budget of %q is of no number", what)
		}
		must.Equal(t, (b.measured > b.most), (b.why != ""), what, b)
	}
}

func TestOver(t *testing.T) {
	for _, n := range []number{{now: 9}, {now: 5, held: true, budget: budget{most: 5}},
		{now: 7, held: true, budget: budget{most: 5, measured: 7, why: "x"}}} {
		if n.over() {
			t.Errorf("%+v is too much", n)
		}
		if n.held {
			if n.now++; !n.over() {
				t.Errorf("%+v is not too much", n)
			}
		}
	}
}

// A flag of the root counts once, although each other help lists it as a global one.
func TestHelp(t *testing.T) {
	var h help
	below := h.add(`ingot runs. Flags: none.

Available Commands:
  completion  Generate
  verify      Compare every total

Flags:
  -h, --help            help for ingot
  -o, --output string   text or json
`)
	must.Match(t, below, []string{"verify"})
	h.add(`Compares.

Examples:
  ingot verify
    --local

Flags:
      --endpoint-url string   send the requests to this URL
  -h, --help                  help for verify

Global Flags:
  -o, --output string   text or json
`)
	if h.commands != 2 || h.flags != 2 || h.words != 51 {
		t.Errorf("%+v", h)
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
	must.Succeed(t, err)
	if s.code != 9 || s.wide != 1 || s.tokens != 47 || s.test {
		t.Errorf("%d lines of code, %d wide, %d tokens, a test: %v", s.code, s.wide, s.tokens, s.test)
	}
	want := []function{{"method", 1}, {"first", 3}, {"neither", 1}}
	must.Match(t, s.funcs, want)
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
		must.Equal(t, room(folder), want, folder)
	}
}

func TestDesigns(t *testing.T) {
	s, err := read("internal/prove/sim/mutants/moves.go", []byte(`package main

var list = []Mutant{{Name: "a", What: "Name"}, {
	Name: "b"}}
`))
	must.Succeed(t, err)
	must.Equal(t, designs([]*source{s}).now, 2)
}
