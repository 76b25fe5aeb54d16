package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/cli"
)

// NoArguments refuses arguments that are left over, and says what was probably meant.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := ""
	switch {
	case cmd.Flags().Lookup("events") != nil && slices.Contains([]string{".ndjson", ".jsonl", ".json", "-"},
		cmp.Or(filepath.Ext(args[0]), args[0])):
		advice = "to name a file of events, write --events FILE; "
	case cmd.Flags().Lookup("pipeline") != nil:
		advice = "to name a pipeline, write --pipeline FILE; "
	}
	return cli.Usagef("%s takes no argument %q; %ssee %s --help", cmd.CommandPath(), args[0], advice, cmd.CommandPath())
}

// NoSuchCommand refuses an unknown command. If a command has a similar name, the error suggests it.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return cli.Usagef("unknown command %q; %s", args[0], hint)
}
