package pass

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// A lot is read only if the user agrees.
func TestAsks(t *testing.T) {
	a, o := &command.App{}, &Options{}
	dear := Price{Reads: ask + 1}
	if err := o.agreed(a, dear); code(err) != cli.Refuses || !strings.Contains(err.Error(), "--yes") {
		t.Error(err)
	}
	if err := (&Options{Yes: true}).agreed(a, dear); err != nil {
		t.Error(err)
	}
	for answer, want := range map[string]int{"y\n": cli.Fine, "n\n": cli.Refuses, "": cli.Refuses} {
		a := &command.App{IO: cli.IO{Typed: true, Stdin: strings.NewReader(answer), Stderr: &strings.Builder{}}}
		must.Equal(t, code(o.agreed(a, dear)), want, answer)
	}
}

// code returns the exit code of an error of a command.
func code(err error) int {
	var exit *cli.ExitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	return cli.Fine
}
