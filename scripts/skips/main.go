// Command skips reads the output of `go test -json` on standard input, prints it for people, and fails when a test
// failed, when no test ran, or when a test was skipped that the committed list does not name.
//
// A test that skips itself looks like a test that passes. In CI that may only happen by name and with a reason.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns 0 when every test ran and passed or was skipped by name, 1 when not, 2 when it could not tell.
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
