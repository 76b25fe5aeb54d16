package main

import (
	"context"
	"errors"
	"fmt"
)

// Exit codes, the same for every command.
const (
	exitFine        = 0   // done, and nothing to complain of
	exitFailed      = 1   // could not be done
	exitUsage       = 2   // the command line, or a file it names, is wrong
	exitDifference  = 3   // done, and a difference or a finding came out
	exitInterrupted = 130 // stopped by a signal
)

// exitError carries the exit code that an error asks for.
// A nil err means that the command has already said all there is to say.
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

// usage reports that the command line or a file it names is wrong: exit code 2.
func usage(err error) error { return &exitError{exitUsage, err} }

// difference reports exit code 3 after a command has printed what it found.
func difference() error { return &exitError{exitDifference, nil} }

// exitCode gives the exit code for what a command returned. A command that was
// interrupted reports 130 whatever error the interruption surfaced as.
func exitCode(ctx context.Context, err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return exitFine
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &exit):
		return exit.code
	}
	return exitFailed
}
