package main

import "github.com/spf13/cobra"

// commands returns the subcommands. Their order does not matter, because help sorts them. Each one
// is made by a function in a file of its own.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newArchive(a), newCheck(a), newConsole(a), newCost(a), newDemo(a), newDev(a), newExplain(a), newInit(a), newVersion(a),
		newErase(a),
		newGet(a),
		newMigrate(a),
		newPause(a), newPolicy(a), newPublish(a), newRegion(a), newResume(a),
		newQuarantine(a),
		newQuery(a),
		newSend(a),
		newStatus(a),
		newTotals(a), newTry(a),
		newVerify(a), newRebuild(a),
	}
}
