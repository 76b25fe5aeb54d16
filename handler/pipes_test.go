package handler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// pipe returns what EventBridge Pipes sends: the bare records.
func pipe(records ...map[string]any) []map[string]any {
	return append([]map[string]any{}, records...)
}

const pipeDone = `{"batchItemFailures":[]}`

func TestPipe(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts)).started()
	one, two := w.image(order("1", 5)), w.image(order("2", 7))
	w.expect(pipe(), pipeDone)
	w.expect(pipe(insert(1, one), insert(2, two)), pipeDone)
	w.expect(pipe(insert(1, one), insert(2, two)), pipeDone) // again
	w.expect(pipe(expiry(3, two)), pipeDone)
	w.sums(t, "live", "1", "5")
	must.Equal(t, len(w.archived()), 1)
}

// Counting by marks needs the shard, and no pipe names it.
func TestPipeUnderMarks(t *testing.T) {
	w := newWorld(t, counting(aggregate.Marks)).started()
	w.fails(pipe(w.inserted(1, "1", 5)), "names no shard", "EventBridge Pipes")
	must.Equal(t, w.total("live").N, 0)
}

// One odd record is quarantined, and the others are counted, even if the strict parser refuses the
// array.
func TestPipeWithOddRecords(t *testing.T) {
	for name, odd := range map[string]string{
		"attribute of an unknown type": `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"` + sequence(2) +
			`","Keys":{"PK":{"Z":"1"}}}}`,
		"half a surrogate pair": `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"` + sequence(2) + `","Keys":{"PK":{"S":"\ud800"}}}}`,
		"a member twice":        `{"eventName":"INSERT","dynamodb":{"a":1,"a":2,"SequenceNumber":"` + sequence(2) + `"}}`,
	} {
		w := newWorld(t, counting(aggregate.Receipts)).started()
		w.expect(pipe(w.inserted(1, "1", 5)), pipeDone)
		payload := []byte(" [" + string(marshal(t, w.inserted(1, "1", 5))) + "," + odd + "," +
			string(marshal(t, w.inserted(3, "2", 7))) + "]")
		if answer, err := w.invokeStreams(payload); err != nil || answer != pipeDone {
			t.Errorf("%s: %s %v", name, answer, err)
		}
		w.sums(t, "live", "2", "12")
		must.Equal(t, len(w.quarantined()), 1, name)
	}
}

// A payload that is not an array of stream records fails as a whole. The error says which element
// is to blame. A pipe with another source, an enrichment or an input template must not look as if
// it worked.
func TestPipeOfOtherThings(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts)).started()
	record := string(marshal(t, w.inserted(1, "1", 5)))
	refused := func(payload, element string) {
		t.Helper()
		_, err := w.invokeStreams([]byte(payload))
		must.Fail(t, err, "element "+element+" of the array is not a record", "is not a stream batch")
	}
	refused(`[{"messageId":"m","body":"{}","eventSource":"aws:sqs"}]`, "0")
	refused(`[{"kinesisSchemaVersion":"1.0","data":"e30=","sequenceNumber":"4"}]`, "0")
	refused(`[{"dynamodb":{"SequenceNumber":"`+sequence(1)+`"}},`+record+`]`, "0")
	for _, other := range []string{`7`, `null`, `{"eventName":"INSERT"}`, `{"eventName":"INSERT","dynamodb":null,"a":"\ud800"}`,
		`{"eventName":7,"dynamodb":{}}`, `{"eventName":"INSERT","dynamodb":"x","a":1,"a":1}`} {
		refused("["+record+","+other+"]", "1")
	}
	must.Equal(t, w.total("live").N, 0)
}

// A pipe reads ids in an answer as eventIDs, so an unproven record fails the whole batch. When the
// batch is delivered again, it is counted once.
func TestPipeUnproven(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts)).started()
	one, two := w.image(order("1", 5)), w.image(order("2", 7))
	broken := true
	w.streams.OnChange = func(_ context.Context, c event.Change) error {
		if broken && c.Key.PK == two["PK"]["S"] {
			return errors.New("the ledger is closed")
		}
		return nil
	}
	w.fails(pipe(insert(1, one), insert(2, two)), sequence(2), "OnChange failed: the ledger is closed")
	w.sums(t, "live", "1", "5")
	broken = false
	w.expect(pipe(insert(1, one), insert(2, two)), pipeDone)
	w.sums(t, "live", "2", "12")
}
