package cli

import "fmt"

// These are the exit codes. They are the same for every command.
const (
	Fine        = 0   // done, without findings
	Failed      = 1   // it could not be done
	Wrong       = 2   // the command line, or a file that it names, is wrong
	Different   = 3   // done, with a difference or a finding
	Credentials = 4   // there are no credentials, or they may not do it
	Refuses     = 5   // the tool refuses to do it
	Unknown     = 6   // done, but something could not be determined
	Interrupted = 130 // stopped by a signal
)

// ExitError carries the exit code for an error. A nil Err means that the command has already
// printed everything.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Usage reports that the command line or a file that it names is wrong.
func Usage(err error) error { return &ExitError{Wrong, err} }

// Usagef is [Usage] of a new error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Difference reports that there is a finding, after a command has printed it.
func Difference() error { return &ExitError{Different, nil} }

// Differs is [Difference] if a result differs that was printed without an error.
func Differs(err error, differs bool) error {
	if err == nil && differs {
		return Difference()
	}
	return err
}

// Refused reports that the tool does not do what was asked, and that a person must decide.
func Refused(err error) error { return &ExitError{Refuses, err} }

// Refusedf is [Refused] of a new error.
func Refusedf(format string, args ...any) error { return Refused(fmt.Errorf(format, args...)) }

// Unsure reports that something could not be determined, after a command has printed what.
func Unsure() error { return &ExitError{Unknown, nil} }
