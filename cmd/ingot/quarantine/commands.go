// Package quarantine has the commands that work on messages of the quarantine, or of a dead-letter
// queue.
package quarantine

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newQuarantine(a)}
}
