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
	// Wakes says that the command may wake the streams function, which stores the deployed file
	// when it starts. Only a command that may change totals by itself may do so: anyone who may
	// invoke the function may also give it changes that never happened.
	Wakes bool

	found []*target.Target
}
