// Package erase has the command erase, which erases events for good.
package erase

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command { return []*cobra.Command{newErase(&app{shared})} }
