// Package archive has the commands that read the archive, and take events out of it.
package archive

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	return []*cobra.Command{newArchive(&app{shared})}
}
