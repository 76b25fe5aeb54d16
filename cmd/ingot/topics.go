package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

// topics returns what the help of several commands would say in the same words. A command that
// cannot run is a topic of help.
func topics(stack *pflag.FlagSet) []*cobra.Command {
	return []*cobra.Command{{
		Use:   "stack",
		Short: "Which stack a command works on, and the flags that say it",
		Long:  command.StackHelp + "\n\nFlags:\n" + stack.FlagUsages(),
	}}
}

// seeTopics says where the help of a command goes on. It ends the help.
func seeTopics(cmd *cobra.Command) string {
	if command.Reaches(cmd) {
		return "\nWhich stack: see ingot help stack.\n"
	}
	return ""
}
