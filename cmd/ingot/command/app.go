// Package command has what several commands of the tool share: the flags that choose a stack
// ([App.StackFlags]), the words of their command lines, and what they do first with the stack that
// was chosen: [App.Find] finds it, and [App.Deployed] the pipeline.yaml that is deployed there. A
// command that changes a stack announces it first, with [App.Announce]. The package prints no
// result.
package command

import (
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// App is what every command may use.
type App struct {
	cli.IO
	Flags target.Options // the choice of a stack
	// Pipeline is the file to use in place of the one that is deployed. It is empty for that one.
	Pipeline string

	found []*target.Target
}
