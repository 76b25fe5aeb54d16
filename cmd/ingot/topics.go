package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

// topics returns what the help of several commands would say in the same words. A command that
// cannot run is a topic of help.
func topics(root *cobra.Command, stack *pflag.FlagSet) []*cobra.Command {
	return []*cobra.Command{{
		Use:   "stack",
		Short: "Which stack a command works on, and the flags that say it",
		Long:  command.StackHelp + "\n\nFlags:\n" + stack.FlagUsages(),
	}, {
		Use:   "json",
		Short: "What commands print with --output json",
		Long:  jsonHelp(root),
	}, {
		Use:   "exit-codes",
		Short: "With which codes commands end",
		Long:  exitHelp,
	}}
}

const exitHelp = `Every command ends with one of these codes. Its own help explains a code that means something special there.

  0     fine
  1     failed
  2     the command line, or a file that it names, is wrong
  3     done, but a difference, a mistake or something else was found that needs attention
  4     there are no credentials, or they do not allow this
  5     refused: a person must decide, and the message says what
  6     done, but not everything could be told
  130   interrupted`

// jsonHelp describes the JSON of all commands. Commands with the same JSON are described once.
func jsonHelp(root *cobra.Command) string {
	help := "With --output json, or -o json, a command prints one object on standard output, if nothing else is said here.\n" +
		"Members that end in [] are arrays.\n"
	names := map[string]string{} // by what is said of the commands
	for _, cmd := range all(root) {
		names[command.JSONOf(cmd)] += ", " + cmd.CommandPath()
	}
	delete(names, "")
	for _, text := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return strings.Compare(names[a], names[b]) }) {
		help += "\n" + names[text][2:] + ":" + text + "\n"
	}
	return help
}

// seeTopics says where the help of a command goes on. It ends the help.
func seeTopics(cmd *cobra.Command) (text string) {
	if command.Reaches(cmd) {
		text = " Which stack: ingot help stack."
	}
	if command.JSONOf(cmd) != "" {
		text += " With --output json: ingot help json."
	}
	if text != "" {
		text = "\n" + text[1:] + "\n"
	}
	return text
}
