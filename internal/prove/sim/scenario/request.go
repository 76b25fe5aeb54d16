package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/testworld"
)

var (
	errLost   = errors.New("read: connection reset by peer")
	errDenied = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized", Fault: smithy.FaultClient}
	errDown   = &smithy.GenericAPIError{Code: "ServiceUnavailable", Message: "the service is down", Fault: smithy.FaultServer}
)

// intercept stands between the functions and the engine. It reports each request, and lets the
// script's trouble happen to it. Requests of mappings and of commands pass unchanged.
func (w *world) intercept(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
	inv := w.running
	if inv == nil || inv.quiet {
		return call()
	}
	what := w.request(in)
	tell := func(outcome string) { w.tell(api, what, outcome) }
	kind := w.trouble.of(api)
	switch kind {
	case "refuse":
		tell("refused")
		return nil, refusal(api)
	case "deny":
		tell("not allowed")
		return nil, errDenied
	case "crash-before":
		tell("not done: the process dies")
		w.die(inv)
	case "freeze-before":
		tell("on its way")
		w.hold(inv)
		w.arriving = true
		out, err := call()
		w.arriving = false
		tell("arrives now: " + w.outcome(out, err))
		return nil, errLost
	}
	out, err := w.someRefused(in, call)
	switch outcome := w.outcome(out, err); kind {
	case "lose-answer":
		tell(outcome + ", answer lost")
		return nil, errLost
	case "crash-after":
		tell(outcome + ", then the process dies")
		w.die(inv)
	case "freeze-after":
		tell(outcome)
		w.hold(inv)
	default:
		tell(outcome)
	}
	return out, err
}

// tell shows a request with its outcome. A transaction has one line for each of its parts.
func (w *world) tell(api, what, outcome string) {
	parts := strings.Split(what, "; ")
	if len(parts) == 1 {
		w.out.row("  "+api+" "+what, outcome)
		return
	}
	w.out.row("  "+api, outcome)
	for _, part := range parts {
		w.out.linef("    %s", part)
	}
}

func (w *world) die(inv *invocation) {
	inv.crashed = true
	panic(dead{})
}

// hold freezes the invocation until it is thawed or the script ends.
func (w *world) hold(inv *invocation) {
	if !inv.freeze(struct{}{}) {
		panic(dead{})
	}
}

func refusal(api string) error {
	if slices.Contains([]string{"PutItem", "UpdateItem", "GetItem", "BatchGetItem", "BatchExecuteStatement", "TransactWriteItems"}, api) {
		return &types.ProvisionedThroughputExceededException{Message: aws.String("no capacity")}
	}
	return errDown
}

// someRefused makes some statements fail inside a successful answer. A statement is told either
// that it was throttled, which is true, or of an internal error, although it was done.
func (w *world) someRefused(in any, call func() (any, error)) (any, error) {
	batch, ok := in.(*dynamodb.BatchExecuteStatementInput)
	throttle, half := w.trouble.statements["throttle"], w.trouble.statements["half"]
	if !ok || len(throttle)+len(half) == 0 {
		return call()
	}
	w.trouble.statements = nil
	refused := make([]bool, len(batch.Statements))
	for i := range refused {
		refused[i] = slices.Contains(throttle, i+1)
	}
	answer, err := testworld.RefuseStatements(batch, refused, testworld.Throttled("throttled"), call)
	if out, ok := answer.(*dynamodb.BatchExecuteStatementOutput); ok && err == nil {
		for i := range out.Responses {
			if !refused[i] && slices.Contains(half, i+1) {
				out.Responses[i] = types.BatchStatementResponse{Error: &types.BatchStatementError{
					Code: types.BatchStatementErrorCodeEnumInternalServerError, Message: aws.String("internal error")}}
			}
		}
	}
	return answer, err
}

// outcome describes what an answer says.
func (w *world) outcome(out any, err error) string {
	if err != nil {
		return refused(err)
	}
	switch o := out.(type) {
	case *dynamodb.BatchExecuteStatementOutput:
		said := make([]string, len(o.Responses))
		for i, r := range o.Responses {
			switch {
			case r.Error == nil:
				said[i] = "done"
			case r.Error.Code == types.BatchStatementErrorCodeEnumDuplicateItem:
				said[i] = "taken"
			case r.Error.Code == types.BatchStatementErrorCodeEnumConditionalCheckFailed:
				said[i] = "condition fails"
			case r.Error.Code == types.BatchStatementErrorCodeEnumInternalServerError:
				said[i] = "done (told: internal error)"
			default:
				said[i] = "throttled"
			}
		}
		return strings.Join(said, ", ")
	case *dynamodb.BatchGetItemOutput:
		found := 0
		for _, items := range o.Responses {
			found += len(items)
		}
		return fmt.Sprintf("found %d", found)
	}
	return "done"
}

func refused(err error) string {
	var condition *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	var api smithy.APIError
	switch {
	case errors.As(err, &condition):
		return "condition fails"
	case errors.As(err, &cancelled):
		for i, reason := range cancelled.CancellationReasons {
			if code := aws.ToString(reason.Code); code != "" && code != "None" {
				return fmt.Sprintf("cancelled: %s at %d", code, i+1)
			}
		}
		return "cancelled"
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return err.Error()
}
