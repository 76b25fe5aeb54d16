// Package migrate has the commands that move a live table.
package migrate

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	return []*cobra.Command{newMigrate(&app{shared})}
}
