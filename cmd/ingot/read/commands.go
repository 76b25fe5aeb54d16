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

// orNewer says what to do if the deployed pipeline.yaml has a name that the stored one lacks: the
// streams function stores the file when it starts, so after a deployment the one before may be
// there.
func (a *app) orNewer() string {
	if a.Pipeline != "" || a.Flags.Local {
		return ""
	}
	return "; if you have just deployed it, name its file with --pipeline FILE, because the table still has the one before"
}
