// Package send has the command send, which puts events into the queue.
package send

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command { return []*cobra.Command{newSend(&app{shared})} }
