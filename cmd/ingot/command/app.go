// Package command has what several commands of the tool share: the flags that choose a stack
// ([App.StackFlags]), the words of their command lines, and what they do first with the stack that
// was chosen. It prints no result.
package command

import "github.com/ingot-events/ingot/internal/tool/chosen"

// App is what every command may use.
type App struct {
	chosen.Stack
}
