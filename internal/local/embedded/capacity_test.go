package embedded_test

import (
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
			if err != nil {
				t.Fatal(err)
			}
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

func TestFailedConditionIsCharged(t *testing.T) {
	w := newWorld(t)
	w.put(sized("a", "g", 2500))
	for name, tt := range map[string]struct {
		put  attrs
		want float64
	}{"stored is larger": {sized("a", "", 100), 3}, "attempted is larger": {sized("a", "", 4000), 4}} {
		before := w.e.Usage()
		_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: tt.put,
			ConditionExpression: aws.String("attribute_not_exists(PK)")})
		if err == nil {
			t.Fatal("the condition held")
		}
		used := w.e.Usage().Sub(before)
		if used.WriteUnits() != tt.want || used.Tables["events"].IndexWrite != 0 || used.Requests["PutItem"] != 1 || used.ReadUnits() != 0 {
			t.Errorf("%s: used %+v, want %v write units", name, used, tt.want)
		}
	}
}

func TestReadUnits(t *testing.T) {
	w := newWorld(t)
	w.put(sized("a", "g", 4097))
	w.put(item("a", "2", nil))
	read := func(name string, want float64, do func() error) {
		t.Helper()
		before := w.e.Usage()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if got := w.e.Usage().Sub(before).ReadUnits(); got != want {
			t.Errorf("%s: %v read units, want %v", name, got, want)
		}
	}
	get := func(pk string, consistent bool) func() error {
		return func() error {
			_, err := w.db.GetItem(background, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: key(pk, "1"),
				ConsistentRead: aws.Bool(consistent)})
			return err
		}
	}
	read("consistent get", 2, get("a", true))
	read("eventual get", 1, get("a", false))
	read("get of nothing", 0.5, get("z", false))
	read("batch", 3, func() error {
		_, err := w.db.BatchGetItem(background, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"events": {Keys: []attrs{key("a", "1"), key("a", "2")}, ConsistentRead: aws.Bool(true)}}})
		return err
	})
	read("query", 2, func() error { // 4,097 + 6 bytes in one answer
		_, err := w.db.Query(background, &dynamodb.QueryInput{TableName: aws.String("events"), ConsistentRead: aws.Bool(true),
			KeyConditionExpression: aws.String("PK = :p"), ExpressionAttributeValues: attrs{":p": s("a")}})
		return err
	})
	read("scan", 1, func() error {
		_, err := w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events")})
		return err
	})
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
