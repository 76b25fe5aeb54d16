package main

import (
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
		Long:  jsonHelp(all(root)),
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
func jsonHelp(commands []*cobra.Command) string {
	var texts []string
	paths := map[string][]string{}
	for _, cmd := range commands {
		if text := command.JSONOf(cmd); text != "" {
			if paths[text] == nil {
				texts = append(texts, text)
			}
			paths[text] = append(paths[text], cmd.CommandPath())
		}
	}
	var b strings.Builder
	b.WriteString("With --output json, or -o json, a command prints one object on standard output, if nothing else is said here.\n" +
		"Members that end in [] are arrays.\n")
	for _, text := range texts {
		end := " " // a text may begin behind the names of its commands
		if strings.HasPrefix(text, " ") {
			end = "\n"
		}
		b.WriteString("\n" + strings.Join(paths[text], ", ") + ":" + end + text + "\n")
	}
	return b.String()
}

// seeTopics says where the help of a command goes on. It ends the help.
func seeTopics(cmd *cobra.Command) string {
	var list []string
	if command.Reaches(cmd) {
		list = append(list, "Which stack: ingot help stack.")
	}
	if command.JSONOf(cmd) != "" {
		list = append(list, "With --output json: ingot help json.")
	}
	if list == nil {
		return ""
	}
	return "\n" + strings.Join(list, " ") + "\n"
}
