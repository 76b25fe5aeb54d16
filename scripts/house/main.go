// Command house measures how large the project is and how it is divided, and compares the numbers
// that have a budget with it. `make house` runs it from the root of a checkout.
//
// A line of code is a line that is neither blank nor a comment. Tokens are counted as well, because
// a number of lines alone would reward dense code.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

func main() {
	os.Exit(run(".", os.Stdout, os.Stderr))
}

// run prints the numbers of the checkout in root. It returns 0 if all are within their budgets,
// 1 if one is not, and 2 if they cannot be measured.
func run(root string, stdout, stderr io.Writer) int {
	numbers, err := measure(root)
	if err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 2
	}
	code := 0
	fmt.Fprintf(stdout, "%-52s  %9s  %9s\n", "", "now", "at most")
	for _, n := range numbers {
		most := ""
		if n.held {
			most = strconv.Itoa(n.allowed())
		}
		fmt.Fprintf(stdout, "%-52s  %9d  %9s", n.what, n.now, most)
		if n.over() {
			code = 1
			fmt.Fprint(stdout, "  too much")
		}
		fmt.Fprintln(stdout)
		if n.why != "" {
			fmt.Fprintf(stdout, "    %d were asked for: %s\n", n.most, n.why)
		}
		for _, line := range n.largest {
			fmt.Fprintln(stdout, "    "+line)
		}
	}
	return code
}
