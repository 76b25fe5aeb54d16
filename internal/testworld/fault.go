package testworld

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Fault is what happens to a request. The zero value does nothing.
type Fault struct {
	API     string               // the name of the requests that it waits for
	Applies func(input any) bool // which of them it applies to; nil: all
	Always  bool                 // it stays and waits for the next one too

	Run    func()                 // runs just before the request
	Late   *[]func() (any, error) // the request is put here; it may arrive after its sender has given up on it
	Before error                  // the request is refused
	Kill   bool                   // the request is carried out, and the function dies: see [Kill]
	After  error                  // the request is carried out, but its answer is lost
	Edit   func(output any)       // changes the answer
}

// Befall carries out a request as far as the fault allows.
func (f *Fault) Befall(call func() (any, error)) (any, error) {
	if f.Run != nil {
		f.Run()
	}
	if f.Late != nil {
		*f.Late = append(*f.Late, call)
	}
	if f.Before != nil {
		return nil, f.Before
	}
	out, err := call()
	if f.Kill {
		Kill()
	}
	if f.After != nil {
		return nil, f.After
	}
	if f.Edit != nil && err == nil {
		f.Edit(out)
	}
	return out, err
}

// Faults are faults that wait for requests.
type Faults []Fault

// Take returns the first fault that waits for this request. It removes the fault from the list,
// unless the fault stays.
func (all *Faults) Take(api string, input any) Fault {
	for i, f := range *all {
		if f.API == api && (f.Applies == nil || f.Applies(input)) {
			if !f.Always {
				*all = append((*all)[:i:i], (*all)[i+1:]...)
			}
			return f
		}
	}
	return Fault{}
}

// Throttled is the error of a statement that is refused for lack of capacity.
func Throttled(message string) *types.BatchStatementError {
	return &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumThrottlingError, Message: &message}
}

// RefuseStatements refuses some statements of a batch, and carries out the others. The answer as a
// whole is a success. For each refused statement it says why. If all are refused, nothing is sent.
func RefuseStatements[O any](in *dynamodb.BatchExecuteStatementInput, refused []bool, why *types.BatchStatementError,
	call func() (O, error)) (O, error) {
	all := in.Statements
	defer func() { in.Statements = all }()
	in.Statements = nil
	for i, s := range all {
		if !refused[i] {
			in.Statements = append(in.Statements, s)
		}
	}
	answer, _ := any(&dynamodb.BatchExecuteStatementOutput{}).(O)
	if len(in.Statements) > 0 {
		var err error
		if answer, err = call(); err != nil {
			return answer, err
		}
	}
	out, ok := any(answer).(*dynamodb.BatchExecuteStatementOutput)
	if !ok {
		return answer, nil
	}
	carried := out.Responses
	out.Responses = make([]types.BatchStatementResponse, len(all))
	for i := range all {
		if refused[i] {
			out.Responses[i].Error = why
			continue
		}
		out.Responses[i], carried = carried[0], carried[1:]
	}
	return answer, nil
}

// Cancelled is the error of a transaction that was cancelled. Each of its n items has the reason
// None, until the caller gives some of them another.
func Cancelled(n int) *types.TransactionCanceledException {
	return &types.TransactionCanceledException{
		Message:             aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons"),
		CancellationReasons: slices.Repeat([]types.CancellationReason{{Code: aws.String("None")}}, n),
	}
}
