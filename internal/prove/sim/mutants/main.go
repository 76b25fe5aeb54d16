// Mutants shows that the simulation finds wrong designs. A mutant is our source with some lines
// changed. It is grafted onto the source with `go build -overlay`, so shipped code has no switches.
// A mutant must first live through worlds without trouble. Then a check that is meant for it must
// kill it within its number of worlds. A blunder must be caught without any trouble. A mutant that
// does not build, that panics or that takes too long is not killed. A mutant that is not killed
// fails the run.
//
// All mutants are in one program, each in copies of the functions that it changes, because building
// takes longer than the hunt. For each mutant, the run first tries the world that killed it when
// kills.txt was printed.
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
		only   = flag.String("only", "", "names of mutants, with commas between; empty: all")
		random = flag.Int("random", 0, "so many mutants drawn at random; 0: all")
		seed   = flag.Uint64("seed", 0, "the draw of -random; 0: a fresh one, printed")
		kills  = flag.Bool("kills", false, "print which world killed which mutant, as kills.txt has it")
		list   = flag.Bool("list", false, "list the mutants")
		beside = flag.Int("p", 2, "so many mutants at a time")
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
	if err := run(ctx, chosen, *beside, *kills); err != nil {
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
	fmt.Fprintf(os.Stderr, "%d of %d mutants; the same ones again: go run ./internal/prove/sim/mutants -random %d -seed %d\n", random,
		len(list), random, seed)
	places := rand.New(rand.NewPCG(seed, 1)).Perm(len(list))[:random]
	slices.Sort(places)
	chosen := make([]Mutant, random)
	for i, at := range places {
		chosen[i] = list[at]
	}
	return chosen, nil
}
