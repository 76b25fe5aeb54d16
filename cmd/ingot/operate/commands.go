// Package operate has the commands that watch and steer a deployed stack: status, console, pause,
// resume, region, publish and try.
package operate

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newStatus(a), newConsole(a), newPause(a), newResume(a), newRegion(a), newPublish(a), newTry(a)}
}
