// Package rebuild has the commands that make totals equal to their items: rebuild, and below it
// parts and mend.
package rebuild

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// repairing is what each of the commands does with the pipeline.
var repairing = command.Use{Hashes: true, Writes: true, Wakes: true}

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	return []*cobra.Command{newRebuild(&app{shared})}
}
