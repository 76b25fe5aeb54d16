// Command bench measures Ingot and what it is compared with, in turns in one run, and says which
// targets are met. The parts that use HTTP run on a DynamoDB emulator that scripts/dynoxide.sh
// fetches. Without the emulator, the command skips those parts and says so. Run it in the module's
// root:
//
//	go run ./internal/prove/bench -emulator "$(scripts/dynoxide.sh)"
//
// A machine that also does other work changes every figure. It changes the ratios less, because
// runs that are compared run next to each other. Cold start has its own command: go run
// ./internal/prove/cold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
)

const usage = `Measures Ingot beside a plain function and beside the floor, and judges its targets.

Usage: go run ./internal/prove/bench [flags]

Exit code: 0 measured, 1 failed or (with -check) a target missed or not measured, 2 wrong usage.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// bench is one run of the command.
type bench struct {
	targets
	emulator string // path of its binary; empty if there is none
	events   int    // of the large run
	talk     io.Writer
	turns    int
}

// sections holds the parts of the bench, in order.
var sections = []struct {
	name     string
	emulator bool // whether it needs an emulator
	named    bool // whether it runs only if it is named, because it takes minutes
	do       func(*bench, context.Context) error
}{
	{"plan", false, false, func(b *bench, _ context.Context) error { return b.plan() }},
	{"ingest", true, false, (*bench).ingest},
	{"delayed", true, false, (*bench).delayed},
	{"totals", true, false, (*bench).totals},
	{"many", true, false, (*bench).many},
	{"values", false, false, (*bench).values},
	{"pages", false, false, (*bench).pages},
	{"parts", false, false, (*bench).parts},
	{"states", false, false, (*bench).states},
	{"compress", false, false, (*bench).compress},
	{"put", false, false, (*bench).put},
	{"soldout", false, false, (*bench).soldOut},
	{"migrate", false, false, (*bench).migrate},
	{"publish", false, false, (*bench).publish},
	{"memory", false, false, (*bench).memory},
	{"streamsmemory", true, false, (*bench).streamsMemory},
	{"large", false, true, (*bench).large},
	{"moves", false, true, (*bench).moves},
	{"send", false, false, (*bench).send},
	{"dev", false, true, (*bench).dev},
	{"size", false, true, (*bench).size},
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	b := &bench{targets: targets{out: stdout}, talk: stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&b.emulator, "emulator", "",
		"`path` of the DynamoDB emulator (scripts/dynoxide.sh prints it); empty: leave out what needs it")
	flags.IntVar(&b.turns, "n", 5, "`runs` of each way")
	flags.IntVar(&b.events, "events", 1_000_000, "`events` of the large run")
	check := flags.Bool("check", false, "exit with 1 if a target is missed or not measured")
	only := flags.String("only", "", "comma-separated `parts` to run: "+names()+" (default: all but large, moves, dev and size)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	chosen, err := choose(*only)
	if err == nil && (flags.NArg() > 0 || b.turns < 1 || b.events < smallest) {
		err = fmt.Errorf("give no arguments, -n of at least 1, and -events of at least %d", smallest)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v; see -h\n", err)
		return 2
	}
	if err := b.run(ctx, chosen); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	if *check && len(b.missed) > 0 {
		fmt.Fprintf(stderr, "bench: targets missed or not measured:\n  %s\n", strings.Join(b.missed, "\n  "))
		return 1
	}
	return 0
}

func names() string {
	var all []string
	for _, s := range sections {
		all = append(all, s.name)
	}
	return strings.Join(all, ",")
}

// choose reads the list of parts to run. An empty list means all.
func choose(list string) (map[string]bool, error) {
	chosen := map[string]bool{}
	if list == "" {
		for _, s := range sections {
			chosen[s.name] = !s.named
		}
		return chosen, nil
	}
	for _, name := range strings.Split(list, ",") {
		if !slices.Contains(strings.Split(names(), ","), name) {
			return nil, fmt.Errorf("there is no part %q; the parts are %s", name, names())
		}
		chosen[name] = true
	}
	return chosen, nil
}

func (b *bench) run(ctx context.Context, chosen map[string]bool) error {
	fmt.Fprintf(b.out, "%s/%s, %d CPUs, %s; the machine's load: %s.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), load())
	for _, s := range sections {
		if !chosen[s.name] {
			continue
		}
		if s.emulator && b.emulator == "" {
			b.head("%s: left out, because it needs the DynamoDB emulator: -emulator \"$(scripts/dynoxide.sh)\" (which needs npm, on "+
				"Linux on x86-64)", s.name)
			b.missed = append(b.missed, s.name+": not measured")
			continue
		}
		if err := s.do(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	fmt.Fprintf(b.out, "\n%d targets missed or not measured; the machine's load: %s.\n", len(b.missed), load())
	return nil
}

// load returns the load of the machine as the kernel reports it: how many processes wanted to run
// over the last minute. If it is well above zero, it slows down what runs in parallel more than
// what runs one by one.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}
