package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// misspelled adds to a flag error which flag was probably meant, or which numbers the flag accepts.
// cobra itself suggests only commands.
func misspelled(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		switch f := invalid.GetFlag(); f.Value.Type() {
		case "uint64":
			return fmt.Errorf("--%s %q: write a whole number from 0 to %d", f.Name, invalid.GetValue(), uint64(math.MaxUint64))
		case "int":
			return fmt.Errorf("--%s %q: write a whole number", f.Name, invalid.GetValue())
		}
	}
	const unknown = "unknown flag: --"
	word, ok := strings.CutPrefix(err.Error(), unknown)
	if !ok {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	}
	if target := []string{"local", "stack", "config-env", "region", "profile", "endpoint-url"}; slices.Contains(target, word) {
		return fmt.Errorf("%w; %s reaches no stack: leave it out", err, cmd.CommandPath())
	}
	if word == "json" || word == "text" {
		return fmt.Errorf("%w; did you mean --output %s?", err, word)
	}
	best, least := "", len(word)/2+1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := distance(word, f.Name); d < least {
			best, least = f.Name, d
		}
	})
	if best == "" {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w; did you mean --%s?", err, best)
}

// distance counts the letters to insert, delete or replace to turn a into b. Two swapped neighbours
// count as one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := range rows[i] {
			switch {
			case i == 0:
				rows[i][j] = j
			case j > 0:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
