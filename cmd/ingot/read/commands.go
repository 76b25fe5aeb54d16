// Package read has the commands that read items and totals: get, query and totals.
package read

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newGet(a), newQuery(a), newTotals(a)}
}
