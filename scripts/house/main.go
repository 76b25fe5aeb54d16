// Command house measures how large the project is and how it is divided, and compares each number
// with its budget. `make house` runs it from the root of a checkout.
//
// A line of code is a line that is neither blank nor a comment. Tokens are counted as well, because
// a number of lines alone would reward dense code.
package main

import (
	"fmt"
	"io"
	"os"
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
	fmt.Fprintf(stdout, "%-52s  %9s  %9s  %9s\n", "", "now", "at most", "goal")
	for _, n := range numbers {
		over, goal := "", n.goal
		if n.now > n.most {
			code, over = 1, "  too much"
		}
		if n.why == "" {
			goal = n.most
		}
		fmt.Fprintf(stdout, "%-52s  %9d  %9d  %9d%s\n", n.what, n.now, n.most, goal, over)
		if n.why != "" {
			fmt.Fprintf(stdout, "    over the goal: %s\n", n.why)
		}
		for _, line := range n.largest {
			fmt.Fprintln(stdout, "    "+line)
		}
	}
	return code
}
