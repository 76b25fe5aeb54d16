package command

import "github.com/spf13/cobra"

// CSV is the annotation of commands whose output can also be csv.
const CSV = "csv"

// jsonMembers is the annotation that describes the JSON of a command.
const jsonMembers = "json"

// HasJSON gives a command the description of what it prints with --output json: a line for each
// member, with its name in the left column. The topic json of help has it behind the name of the
// command and a colon. An empty text describes nothing.
func HasJSON(cmd *cobra.Command, text string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[jsonMembers] = text
}

// JSONOf returns the description of the JSON of a command. It is empty if there is none.
func JSONOf(cmd *cobra.Command) string { return cmd.Annotations[jsonMembers] }
