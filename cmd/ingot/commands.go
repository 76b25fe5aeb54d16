package main

import "github.com/spf13/cobra"

// commands are the subcommands, in no order that matters: help sorts them.
// Each is made by one function in a file of its own.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{newCheck(a), newCost(a), newDemo(a), newExplain(a), newInit(a), newVersion(a)}
}
