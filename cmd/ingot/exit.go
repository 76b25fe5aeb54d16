package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/internal/tool/target"
)

// These are the exit codes. They are the same for every command.
const (
	exitFine        = 0   // done, without findings
	exitFailed      = 1   // it could not be done
	exitUsage       = 2   // the command line, or a file that it names, is wrong
	exitDifference  = 3   // done, with a difference or a finding
	exitCredentials = 4   // there are no credentials, or they may not do it
	exitRefused     = 5   // the tool refuses to do it
	exitUntold      = 6   // done, but something could not be determined
	exitInterrupted = 130 // stopped by a signal
)

// exitError carries the exit code for an error. A nil err means that the command has already
// printed everything.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage reports that the command line or a file that it names is wrong. The exit code is 2.
func usage(err error) error { return &exitError{exitUsage, err} }

// difference reports exit code 3, after a command has printed what it found.
func difference() error { return &exitError{exitDifference, nil} }

// refused reports that the tool does not do what was asked, and that a person must decide. The exit
// code is 5.
func refused(err error) error { return &exitError{exitRefused, err} }

// untold reports exit code 6, after a command has printed what it could not determine.
func untold() error { return &exitError{exitUntold, nil} }

// exitCode returns the exit code for what a command returned. For an interrupted command it is 130,
// whatever error the interruption caused.
func exitCode(ctx context.Context, err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return exitFine
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &exit):
		return exit.code
	case target.Refused(err):
		return exitCredentials
	}
	return exitFailed
}
