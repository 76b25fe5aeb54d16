package runtimeapi

import (
	"encoding/json"
	"fmt"
	"os"
)

// FunctionError is an error that the function reported. The process may still live: it ends
// by itself after a panic or a failed start.
type FunctionError struct {
	Type    string          // errorType, e.g. errorString or Runtime.ExitError
	Message string          // errorMessage
	Init    bool            // reported while starting, before any invocation
	Body    json.RawMessage // the report as sent, with a stack trace where there is one
}

func (e *FunctionError) Error() string {
	when := "the function answered with an error"
	if e.Init {
		when = "the function could not start"
	}
	return fmt.Sprintf("%s: %s: %s", when, e.Type, e.Message)
}

// functionError reads a report. What is not JSON of the known form becomes the message.
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

// Cause is why a process ended.
type Cause uint8

// The causes. Crashed: the process ended by itself, whatever its exit code, or was killed by
// someone else. TimedOut: it did not start, ask for work or answer within its time, and was
// killed as Lambda does. Canceled: a context ended while the process depended on it.
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

// ExitError is the death of the process. What an invocation in progress had done by then is
// unknown, as in Lambda.
type ExitError struct {
	Binary    string
	RequestID string // the invocation that was in progress; empty: none was handed out
	Cause     Cause
	State     *os.ProcessState // exit code or signal, CPU time, and resource usage where the system tells
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
