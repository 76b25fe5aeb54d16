package main

import (
	"slices"

	"github.com/ingot-events/ingot/cmd/ingot/read"

	"github.com/ingot-events/ingot/cmd/ingot/pass"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/quarantine"
)

// commands returns the subcommands. Their order does not matter, because help sorts them. Each one
// is made by a function in a file of its own.
func commands(a *app) []*cobra.Command {
	families := [][]*cobra.Command{
		read.Commands(a.App),
		pass.Commands(a.App),
		quarantine.Commands(a.App),
	}
	return append(slices.Concat(families...), []*cobra.Command{
		newArchive(a), newCheck(a), newConsole(a), newCost(a), newDemo(a), newDev(a), newExplain(a), newInit(a), newVersion(a),
		newErase(a),
		newPause(a), newPolicy(a), newPublish(a), newRegion(a), newResume(a),
		newSend(a),
		newStatus(a),
		newTry(a),
	}...)
}
