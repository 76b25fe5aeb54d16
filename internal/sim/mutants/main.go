// Mutants shows that the simulation finds wrong designs. Each mutant is ours but for some lines,
// grafted onto the source with `go build -overlay`: shipped code has no switches. A mutant must
// live through worlds without trouble, and then be killed by a check that it is meant for, within
// its number of worlds; a blunder must be caught without any trouble. What does not build, panics
// or takes too long is not killed, and what is not killed fails the run.
//
// All mutants are in one program, each in copies of the functions that it changes, since building
// takes longer than the hunt. The world that killed a mutant when the table of docs/correctness.md
// was printed is tried first.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	var (
		only     = flag.String("only", "", "names of mutants, with commas between; empty: all")
		random   = flag.Int("random", 0, "so many mutants drawn at random; 0: all")
		seed     = flag.Uint64("seed", 0, "the draw of -random; 0: a fresh one, printed")
		markdown = flag.Bool("markdown", false, "print the table as Markdown, as docs/correctness.md has it")
		list     = flag.Bool("list", false, "list the mutants")
		beside   = flag.Int("p", 2, "so many mutants at a time")
	)
	flag.Parse()
	chosen, err := choose(*only, *random, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if *list {
		for _, m := range chosen {
			fmt.Printf("%-28s %s\n", m.Name, m.What)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, chosen, *beside, *markdown); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// choose picks the mutants to run, in the order in which they are listed.
func choose(only string, random int, seed uint64) ([]Mutant, error) {
	list := all()
	if only != "" {
		var chosen []Mutant
		for _, name := range strings.Split(only, ",") {
			i := slices.IndexFunc(list, func(m Mutant) bool { return m.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("there is no mutant %q; -list lists them", name)
			}
			chosen = append(chosen, list[i])
		}
		return chosen, nil
	}
	if random <= 0 || random >= len(list) {
		return list, nil
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintf(os.Stderr, "%d of %d mutants; the same ones again: go run ./internal/sim/mutants -random %d -seed %d\n", random, len(list), random, seed)
	places := rand.New(rand.NewPCG(seed, 1)).Perm(len(list))[:random]
	slices.Sort(places)
	chosen := make([]Mutant, random)
	for i, at := range places {
		chosen[i] = list[at]
	}
	return chosen, nil
}
