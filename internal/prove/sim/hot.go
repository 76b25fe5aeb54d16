package sim

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// mostForHotKey is how long an invocation may take that met no trouble except a hot key.
const mostForHotKey = 15 * time.Second

// isHot reports whether writes to the partition key pk are throttled now. pk is empty for anything
// that is not an event. When a key is to become hot, the first key that is written becomes the hot
// one.
func (w *World) isHot(pk string) bool {
	if pk == "" || w.calm || !w.now.Before(w.hotUntil) {
		return false
	}
	if w.hot == "" {
		w.hot = pk
	}
	if w.hot != pk {
		return false
	}
	w.fault(hotKey, pk)
	if inv := w.current.invocation(); inv != nil {
		inv.hot++
	}
	return true
}

// coolStatements throttles the statements of a hot key inside a successful answer.
func (w *World) coolStatements(in *dynamodb.BatchExecuteStatementInput,
	call func(*dynamodb.BatchExecuteStatementInput) (*dynamodb.BatchExecuteStatementOutput, error)) (*dynamodb.BatchExecuteStatementOutput,
	error) {
	hot, some := make([]bool, len(in.Statements)), false
	for i, s := range in.Statements {
		table, pk, _ := keyOf(s.Parameters)
		hot[i] = table == eventsTable && w.isHot(pk)
		some = some || hot[i]
	}
	if !some {
		return call(in)
	}
	var answers []types.BatchStatementResponse
	if _, rest := divide(in.Statements, hot); len(rest) > 0 {
		out, err := call(&dynamodb.BatchExecuteStatementInput{Statements: rest})
		if err != nil {
			return out, err
		}
		answers = out.Responses
	}
	all := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(hot))}
	for i := range hot {
		if hot[i] {
			all.Responses[i].Error = &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumThrottlingError,
				Message: aws.String("slow down")}
			continue
		}
		all.Responses[i], answers = answers[0], answers[1:]
	}
	return all, nil
}

// coolTransaction cancels a transaction that puts an item under a hot key, and another item under
// another key. The reasons name the item. They never say that its key is hot, so nothing could tell
// a hot key from a table short of capacity if all items had that key.
func (w *World) coolTransaction(in *dynamodb.TransactWriteItemsInput) error {
	keys := map[string]bool{}
	for _, item := range in.TransactItems {
		switch {
		case item.Put != nil:
			keys[text(item.Put.Item["PK"])] = true
		case item.Update != nil:
			keys[text(item.Update.Key["PK"])] = true
		}
	}
	if len(keys) < 2 {
		return nil
	}
	cancelled := &types.TransactionCanceledException{CancellationReasons: make([]types.CancellationReason, len(in.TransactItems))}
	some := false
	for i, item := range in.TransactItems {
		r := &cancelled.CancellationReasons[i]
		r.Code = aws.String("None")
		if item.Put != nil && *item.Put.TableName == eventsTable && w.isHot(text(item.Put.Item["PK"])) {
			r.Code, r.Message, some = aws.String("ThrottlingError"), aws.String("slow down"), true
		}
	}
	if !some {
		return nil
	}
	return cancelled
}

// checkHotKey checks that one hot key does not hold up a batch.
func (w *World) checkHotKey(inv *invocation, took time.Duration) {
	if inv.hot > 0 && inv.hot == inv.faults && took > mostForHotKey {
		w.fail(Cost, "%s takes %s, and has met nothing but a hot key", inv.name, took)
	}
}
