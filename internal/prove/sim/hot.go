package sim

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/testworld"
)

// heat makes the writes of one partition key be throttled for a while.
type heat struct {
	*World
	key   string // the partition key whose writes are throttled; empty until the next one is written
	until time.Time
}

// mostForHotKey is how long an invocation may take that met no trouble except a hot key.
const mostForHotKey = 15 * time.Second

// isHot reports whether writes to the partition key pk are throttled now. pk is empty for anything
// that is not an event. When a key is to become hot, the first key that is written becomes the hot
// one. The item that names the home is put once, so it is never hot.
func (w *heat) isHot(pk string) bool {
	if pk == "" || pk == lanes.HomeKey.PK || w.Calm || !w.Now.Before(w.until) {
		return false
	}
	if w.key == "" {
		w.key = pk
	}
	if w.key != pk {
		return false
	}
	w.Fault(hotKey, pk)
	if inv := invocationOf(w.Current); inv != nil {
		inv.hot++
	}
	return true
}

// coolStatements throttles the statements of a hot key inside a successful answer.
func (w *heat) coolStatements(in *dynamodb.BatchExecuteStatementInput,
	call func() (*dynamodb.BatchExecuteStatementOutput, error)) (*dynamodb.BatchExecuteStatementOutput, error) {
	hot := make([]bool, len(in.Statements))
	for i, s := range in.Statements {
		table, pk, _ := keyOf(s.Parameters)
		hot[i] = table == eventsTable && w.isHot(pk)
	}
	return testworld.RefuseStatements(in, hot, testworld.Throttled("slow down"), call)
}

// coolTransaction cancels a transaction that puts an item under a hot key, and another item under
// another key. The reasons name the item. They never say that its key is hot, so nothing could tell
// a hot key from a table short of capacity if all items had that key.
func (w *heat) coolTransaction(in *dynamodb.TransactWriteItemsInput) error {
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
	cancelled, some := testworld.Cancelled(len(in.TransactItems)), false
	for i, item := range in.TransactItems {
		if item.Put != nil && *item.Put.TableName == eventsTable && w.isHot(text(item.Put.Item["PK"])) {
			cancelled.CancellationReasons[i].Code, some = aws.String("ThrottlingError"), true
		}
	}
	if !some {
		return nil
	}
	return cancelled
}

// checkHotKey checks that one hot key does not hold up a batch.
func (w *heat) checkHotKey(inv *invocation, took time.Duration) {
	if inv.hot > 0 && inv.hot == inv.Faults && took > mostForHotKey {
		w.Fail(Cost, "%s takes %s, and has met nothing but a hot key", inv.Name, took)
	}
}
