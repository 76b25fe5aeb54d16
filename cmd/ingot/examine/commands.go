// Package examine has the commands about a declaration, before it is deployed: check, explain, cost
// and policy.
package examine

import (
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

type app struct{ *command.App }

// Commands returns the commands.
func Commands(shared *command.App) []*cobra.Command {
	a := &app{shared}
	return []*cobra.Command{newCheck(a), newExplain(a), newCost(a), newPolicy(a)}
}
