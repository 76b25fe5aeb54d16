package runtimeapi

import (
	"encoding/json"
	"fmt"
	"os"
)

// FunctionError is an error that the function reported. The process may still be alive. It ends by
// itself after a panic or a failed start.
type FunctionError struct {
	Type    string          // errorType, e.g. errorString or Runtime.ExitError
	Message string          // errorMessage
	Init    bool            // whether it was reported while starting, before any invocation
	Body    json.RawMessage // the report as sent, with a stack trace where there is one
}

func (e *FunctionError) Error() string {
	when := "the function answered with an error"
	if e.Init {
		when = "the function could not start"
	}
	return fmt.Sprintf("%s: %s: %s", when, e.Type, e.Message)
}

// functionError reads a report. If the report does not have the known JSON form, its whole text
// becomes the message.
func functionError(headerType string, body []byte) *FunctionError {
	var report struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(body, &report); err != nil {
		report.Message = string(body)
	}
	if report.Type == "" {
		report.Type = headerType
	}
	return &FunctionError{Type: report.Type, Message: report.Message, Body: body}
}

// Cause says why a process ended.
type Cause uint8

// These are the causes:
//
//   - Crashed: the process ended by itself, whatever its exit code, or somebody else killed it.
//   - TimedOut: it did not start, ask for work or answer within its time, and was killed, as
//     Lambda does.
//   - Canceled: a context ended while the process depended on it.
const (
	Crashed Cause = iota + 1
	TimedOut
	Canceled
	Killed
	Closed
)

func (c Cause) String() string {
	switch c {
	case Crashed:
		return "ended by itself"
	case TimedOut:
		return "was killed because its time was over"
	case Canceled:
		return "was killed because its context ended"
	case Killed:
		return "was killed"
	case Closed:
		return "was closed"
	}
	return "lives"
}

// ExitError says that the process died. It is unknown what an invocation in progress had done by
// then, as in Lambda.
type ExitError struct {
	Binary    string
	RequestID string // the invocation that was in progress; empty if none had been handed out
	Cause     Cause
	State     *os.ProcessState // exit code or signal, CPU time, and resource usage if the system reports it
	Err       error            // what waiting for the process returned; nil after exit code 0
}

func (e *ExitError) Error() string {
	during := "before it took the invocation"
	if e.RequestID != "" {
		during = "during request " + e.RequestID
	}
	return fmt.Sprintf("%s %s %s (%v)", e.Binary, e.Cause, during, e.State)
}

func (e *ExitError) Unwrap() error { return e.Err }
