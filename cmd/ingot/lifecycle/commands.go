// Package lifecycle has the commands with which events come and go: send, erase and archive.
package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newSend(a), newErase(a), newArchive(a)}
}
