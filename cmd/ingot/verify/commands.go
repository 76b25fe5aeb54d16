// Package verify has the command that compares every total with the items.
package verify

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	return []*cobra.Command{newVerify(&app{shared})}
}
