package main

import (
	"context"
	"errors"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// exitCode returns the exit code for what a command returned. For an interrupted command it is 130,
// whatever error the interruption caused.
func exitCode(ctx context.Context, err error) int {
	var exit *cli.ExitError
	switch {
	case err == nil:
		return cli.Fine
	case ctx.Err() != nil:
		return cli.Interrupted
	case errors.As(err, &exit):
		return exit.Code
	case target.Refused(err):
		return cli.Credentials
	}
	return cli.Failed
}
