// Package local has the commands that make a repository and run a pipeline on this machine: init,
// demo and dev.
package local

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newInit(a), newDemo(a), newDev(a)}
}
