package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// These flags must have a value if they are given: a file or folder, or another value.
var (
	fileFlags = []string{"pipeline", "template", "samconfig", "was", "events", "prices", "work", "data", "host", "keys", "letters",
		"migration", "publish", "next"}
	valueFlags = []string{"stack", "config-env", "profile", "region", "endpoint-url", "verdict", "reason", "type", "key", "from-stack"}
)

// wrongFlag refuses flags that mean nothing to a command, and those that are given without the
// value that they must have.
func wrongFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch why := command.Meaningless(cmd, f); {
		case err != nil:
		case why != "":
			err = cli.Usagef("--%s: %s; leave it out", f.Name, why)
		case f.Value.String() != "":
		case slices.Contains(fileFlags, f.Name):
			err = cli.Usagef("--%s is empty; name a file, or leave the option out", f.Name)
		case slices.Contains(valueFlags, f.Name):
			err = cli.Usagef("--%s is empty; write a value, or leave the option out", f.Name)
		}
	})
	return err
}
