// Command skips reads the output of `go test -json` from standard input and prints it for people.
// It fails if a test failed, if no test ran, or if a test was skipped that is not in the committed
// list.
//
// A test that skips itself looks like a test that passes. In CI it may skip only if the list names
// it with a reason, or if it passes elsewhere in the input, which may be that of several runs.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns 0 if every test ran and passed, or was skipped and is in the list. It returns 1 if
// not, and 2 if it could not tell.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: go test -json ./... | go run ./scripts/skips LIST")
		return 2
	}
	allowed, err := readList(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "skips:", err)
		return 2
	}
	report := newReport(stdout)
	if err := report.read(stdin); err != nil {
		fmt.Fprintln(stderr, "skips: reading the test output:", err)
		return 2
	}
	problems := report.problems(allowed)
	fmt.Fprintf(stdout, "\n%d tests passed, %d failed, %d skipped\n", report.passed, report.failed, len(report.skipped))
	for _, p := range problems {
		fmt.Fprintln(stderr, "skips:", p)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}
