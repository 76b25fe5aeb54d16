// Command cold measures how long a Lambda function takes from the start of its process to the
// answer to a first batch of one message, and how large its binary is. For comparison, it also
// measures a reference, a function that does the least that a Go function can do. Both are built
// with the production flags, run in turns in internal/local/lambda/runtimeapi, and use a DynamoDB
// on loopback that answers at once. Its tables already hold what the first start of a deployment
// writes, as they do for nearly every cold start. So the times show only the work of the process
// itself. Lambda adds the time of its sandbox to both functions. At small memory sizes, it gives
// them less than the whole core that they have here.
//
//	go run ./internal/prove/cold -max-ratio 1.3 -max-mb 15
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
)

const usage = `Measures the cold start and binary size of a Lambda function.

Usage: go run ./internal/prove/cold [flags]

Exit code: 0 measured, 1 failed or above -max-ratio or -max-mb, 2 wrong usage.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options holds what the command line says.
type options struct {
	function  string   // package of the function
	reference string   // the package with which it is compared
	event     string   // file with the Lambda event to send; empty means an order
	runs      int      // measured runs of each
	maxRatio  float64  // 0 means no limit
	maxMB     float64  // 0 means no limit
	arches    []string // Linux architectures whose binaries are sized
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := options{arches: []string{"amd64", "arm64"}}
	flags := flag.NewFlagSet("cold", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.function, "function", "./cmd/ingest", "`package` of the function to measure")
	flags.StringVar(&o.reference, "reference", "./internal/prove/cold/reference", "`package` of the function to compare it with")
	flags.StringVar(&o.event, "event", "", "`file` with the Lambda event to send (default: one SQS message with an order placed now)")
	flags.IntVar(&o.runs, "n", 20, "measured runs of each function")
	flags.Float64Var(&o.maxRatio, "max-ratio", 0,
		"exit with 1 if the median cold start is above this many `times` the reference's (0: no limit)")
	flags.Float64Var(&o.maxMB, "max-mb", 0, "exit with 1 if a binary of the function has more than this many `MB` (0: no limit)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || o.runs < 1 || o.maxRatio < 0 || o.maxMB < 0 {
		fmt.Fprintln(stderr, "cold: give no arguments, an -n of at least 1, and a -max-ratio and -max-mb that are not negative; see -h")
		return 2
	}
	if err := o.compare(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "cold:", err)
		return 1
	}
	return 0
}

// compare builds and measures both functions, and prints the table. It returns an error if the
// ratio or a size is above its limit.
func (o options) compare(ctx context.Context, stdout io.Writer) error {
	event, err := o.firstBatch()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cold")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db := newDatabase()
	defer db.close()
	ours := &function{pkg: o.function, dir: dir, name: "function"}
	reference := &function{pkg: o.reference, dir: dir, name: "reference"}
	both := []*function{ours, reference}
	for _, f := range both {
		if err := f.build(ctx, o.arches); err != nil {
			return err
		}
	}
	// The functions run in turns, so that other work of the machine affects both in the same way.
	// The first turn only warms the file cache.
	for turn := range o.runs + 1 {
		for _, f := range both {
			t, err := f.once(ctx, db, event)
			if err != nil {
				return fmt.Errorf("%s: %w", f.pkg, err)
			}
			if turn > 0 {
				f.times = append(f.times, t)
			}
		}
	}
	fmt.Fprintf(stdout,
		"Cold start: process start to the answer of a first batch of one; %d runs of each by turns; %s/%s, %d CPUs, %s.\n\n",
		o.runs, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	ratio, err := writeTable(stdout, o.arches, ours, reference)
	if err != nil {
		return err
	}
	for i, size := range ours.sizes {
		if mb := float64(size) / 1e6; o.maxMB > 0 && mb > o.maxMB {
			return fmt.Errorf("%s has %.2f MB for %s; at most %.2f MB is allowed", o.function, mb, o.arches[i], o.maxMB)
		}
	}
	if o.maxRatio > 0 && ratio > o.maxRatio {
		return fmt.Errorf("%s takes %.2f times as long as %s to start; at most %.2f is allowed", o.function, ratio, o.reference, o.maxRatio)
	}
	return nil
}
