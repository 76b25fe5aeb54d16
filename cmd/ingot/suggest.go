package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/base/nearest"
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
	if word == "json" || word == "text" {
		return fmt.Errorf("%w; did you mean --output %s?", err, word)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if command.Meaningless(cmd, f) == "" {
			names = append(names, f.Name)
		}
	})
	best := nearest.Name(word, names)
	if best == "" {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w; did you mean --%s?", err, best)
}
