package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/archive"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/erase"
	"github.com/ingot-events/ingot/cmd/ingot/examine"
	"github.com/ingot-events/ingot/cmd/ingot/local"
	"github.com/ingot-events/ingot/cmd/ingot/migrate"
	"github.com/ingot-events/ingot/cmd/ingot/operate"
	"github.com/ingot-events/ingot/cmd/ingot/quarantine"
	"github.com/ingot-events/ingot/cmd/ingot/read"
	"github.com/ingot-events/ingot/cmd/ingot/rebuild"
	"github.com/ingot-events/ingot/cmd/ingot/send"
	"github.com/ingot-events/ingot/cmd/ingot/verify"
)

// commands returns the commands. Their order does not matter, because help sorts them. Each family
// of commands is a package that knows no other family.
func commands(a *command.App) []*cobra.Command {
	return slices.Concat(examine.Commands(a), local.Commands(a), send.Commands(a), erase.Commands(a), archive.Commands(a),
		read.Commands(a), verify.Commands(a), rebuild.Commands(a), migrate.Commands(a), quarantine.Commands(a), operate.Commands(a))
}
