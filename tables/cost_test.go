package tables_test

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// If the service names an index, the partition is that of the index. If it names nothing, what the
// refused items have in common stands out.
func TestRefusedPartitions(t *testing.T) {
	item := func(id int) *event.Item {
		return &event.Item{Type: "order", Key: event.Key{PK: fmt.Sprint("ORDER#", id), SK: "-"}, Indexes: []event.IndexKey{
			{Name: "GSI1", Key: event.Key{PK: fmt.Sprint("CUSTOMER#", id), SK: "-"}}, {Name: "GSI2", Key: event.Key{PK: "DAY#1", SK: "-"}}}}
	}
	var named, silent tables.Cost
	for id := range 40 {
		named.RefusedItem(item(id), "IndexWriteKeyRangeThroughputExceeded of arn:aws:dynamodb:x:0:table/events/index/GSI2")
		silent.RefusedItem(item(id), "ThrottlingError")
	}
	day := tables.Partition{Of: "order", Index: "GSI2", Key: "DAY#1"}
	if len(named.Hot) != 1 || named.Hot[day] != 40 {
		t.Errorf("named: %v", named.Hot)
	}
	if len(silent.Hot) != 81 || silent.Hot[day] != 40 || silent.Hot[tables.Partition{Of: "order", Key: "ORDER#7"}] != 1 {
		t.Errorf("silent: %d partitions, the day %d", len(silent.Hot), silent.Hot[day])
	}
	silent.Add(named)
	silent.RefusedTotal("daily", event.Key{PK: "A#daily#1#0", SK: "-"})
	if silent.Hot[day] != 80 || silent.Hot[tables.Partition{Of: "daily", Key: "A#daily#1#0"}] != 1 {
		t.Errorf("added: %v", silent.Hot)
	}
	for id := range 10_000 { // as of a batch of which everything is refused
		silent.RefusedItem(item(id), "")
	}
	if len(silent.Hot) != 1000 || silent.Hot[day] != 10_080 {
		t.Errorf("%d partitions, the day %d", len(silent.Hot), silent.Hot[day])
	}
}
