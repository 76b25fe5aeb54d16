package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// sized returns an item of exactly size bytes. The item is in the index if index is not empty.
func sized(pk, index string, size int) attrs {
	it := item(pk, "1", attrs{"v": s("")})
	used := len("PK") + len(pk) + len("SK1") + len("v")
	if index != "" {
		it["GSI1PK"], it["GSI1SK"] = s(index), s("x")
		used += len("GSI1PK") + len(index) + len("GSI1SKx")
	}
	it["v"] = s(strings.Repeat("v", size-used))
	return it
}

// TestWriteUnits takes its index rows from the captures of the public conformance suite. In them an
// entry appears, grows, shrinks, moves or goes, and one overwrite changes nothing.
func TestWriteUnits(t *testing.T) {
	for _, tt := range []struct {
		name         string
		old, new     attrs
		table, index float64
	}{
		{"new, 1 KB", nil, sized("a", "", 1024), 1, 0},
		{"new, 1 KB and a byte", nil, sized("a", "", 1025), 2, 0},
		{"shrinks", sized("a", "", 3000), sized("a", "", 100), 3, 0},
		{"grows", sized("a", "", 100), sized("a", "", 3000), 3, 0},
		{"joins the index", nil, sized("a", "g", 100), 1, 1},
		{"leaves the index", sized("a", "g", 3000), sized("a", "", 100), 3, 3},
		{"changes nothing", sized("a", "g", 100), sized("a", "g", 100), 1, 0},
		{"changes in place", sized("a", "g", 3000), sized("a", "g", 100), 3, 3},
		{"moves in the index", sized("a", "g", 1500), sized("a", "h", 1500), 2, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.old != nil {
				w.put(tt.old)
			}
			before := w.e.Usage()
			out, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: tt.new,
				ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes})
			held(t, err)
			used := w.e.Usage().Sub(before).Tables["events"]
			if used.Write != tt.table || used.IndexWrite != tt.index {
				t.Errorf("used %v and %v on the index, want %v and %v", used.Write, used.IndexWrite, tt.table, tt.index)
			}
			c := out.ConsumedCapacity
			if *c.CapacityUnits != tt.table+tt.index || *c.Table.CapacityUnits != tt.table {
				t.Errorf("answered %v, %v", *c.CapacityUnits, *c.Table.CapacityUnits)
			}
			if ix, ok := c.GlobalSecondaryIndexes["GSI1"]; ok != (tt.index > 0) || ok && *ix.CapacityUnits != tt.index {
				t.Errorf("answered index %v", c.GlobalSecondaryIndexes)
			}
		})
	}
}

// TestWhatIsRefusedIsCharged shows that a condition that fails costs what the larger image would.
// The figures of the batch are those that the public conformance suite captured: two inserts and
// three failures cost 1, 1 and 3 units. The total is 7, but the arms sum to 2.
func TestWhatIsRefusedIsCharged(t *testing.T) {
	for _, returns := range []bool{false, true} {
		w := newWorld(t, func(c *embedded.Config) { c.PartiQLReturnsItem = returns })
		w.put(sized("a", "g", 2500))
		w.put(item("old", "1", nil))
		w.put(item("old", "2", nil))
		charged := func(what string, want float64, do func()) {
			t.Helper()
			before := w.e.Usage()
			do()
			if used := w.e.Usage().Sub(before); used.WriteUnits() != want || used.Tables["events"].IndexWrite > 2 || used.ReadUnits() != 0 {
				t.Errorf("%s: used %+v, want %v write units", what, used, want)
			}
		}
		for size, want := range map[int]float64{100: 3, 4000: 4} {
			charged(fmt.Sprint("a put of ", size), want, func() {
				_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: sized("a", "", size),
					ConditionExpression: aws.String("attribute_not_exists(PK)")})
				var failed *types.ConditionalCheckFailedException
				if !errors.As(err, &failed) || *failed.Message != "The conditional request failed" {
					t.Errorf("the put of %d bytes: %v", size, err)
				}
			})
		}
		charged("a batch", 7, func() {
			out, err := w.batch(insert("new", "1", "x"), insert("old", "1", "x"), insert("new", "2", "x"), insert("old", "2", "x"),
				insert("a", "1", "x"))
			held(t, err)
			if c := out.ConsumedCapacity[0]; *c.CapacityUnits != 7 || *c.Table.CapacityUnits != 2 {
				t.Errorf("capacity %v, table %v; want 7 and 2", *c.CapacityUnits, *c.Table.CapacityUnits)
			}
			if e := out.Responses[1].Error; *e.Message != "Duplicate primary key exists in table" || (e.Item != nil) != returns {
				t.Errorf("%s, image %v", *e.Message, e.Item)
			}
		})
		charged("a batch of which all fails", 1, func() {
			if out, err := w.batch(insert("old", "1", "x")); err != nil || out.ConsumedCapacity != nil {
				t.Errorf("%v, %v; want no capacity", out.ConsumedCapacity, err)
			}
		})
		charged("a transaction", 6, func() {
			_, err := w.transact("", txPut("b"), txPut("old"), txAdd("sum", "5"))
			var cancelled *types.TransactionCanceledException
			if !errors.As(err, &cancelled) || !strings.Contains(*cancelled.Message, "[None, ConditionalCheckFailed, None]") ||
				*cancelled.CancellationReasons[1].Message != "The conditional request failed" {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestUsage shows that Usage counts a call that Intercept refuses, and that Sub returns the
// difference of two snapshots.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	before := w.e.Usage()
	w.put(item("a", "1", nil))
	used := w.e.Usage().Sub(before)
	if used.TotalRequests() != 1 || used.WriteUnits() != 1 || len(used.Tables) != 1 {
		t.Errorf("one put: %+v", used)
	}
	if none := used.Sub(used); none.TotalRequests() != 0 || len(none.Tables) != 0 || len(none.Requests) != 0 {
		t.Errorf("nothing: %+v", none)
	}
	var zero embedded.Usage
	if zero.WriteUnits() != 0 || zero.Sub(zero).TotalRequests() != 0 {
		t.Error("the zero Usage is not empty")
	}
}
