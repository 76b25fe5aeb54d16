package check

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/sample"
)

// If one streams function does not keep up with a rate, that is a mistake. The memory that the
// finding says to write keeps up.
func TestARateThatIsTooHigh(t *testing.T) {
	in := own{parameters: map[string]string{"MemorySize": "256"}}.input(t)
	in.Rate, in.Partitions = 4000, 4
	r := run(t, in)
	want := "template.yaml:" + place(t, string(in.Template.Text), "MemorySize: |!Ref MemorySize") +
		": at 4,000 changes a second each of 4 shards delivers 1,000, and one streams function of 256 MB counts about "
	if len(r.Findings) != 1 || r.Clean() || !strings.HasPrefix(r.Findings[0].String(), want) ||
		!strings.Contains(r.Findings[0].What, "of 3 updates each: totals would fall behind for good") {
		t.Fatalf("got  %v\nwant %s", r.Findings, want)
	}
	memory, found := strings.CutPrefix(r.Findings[0].Instead, "MemorySize: ")
	in.Parameters["MemorySize"] = memory
	if r := run(t, in); !found || len(r.Findings) > 0 {
		t.Errorf("the advice was followed: %v", r.Findings)
	}
	in.Parameters["MemorySize"] = "256"
	in.Rate = 1000 // with the same shards
	if r := run(t, in); len(r.Findings) > 0 || r.Capacity.PerShard != 250 {
		t.Errorf("%v, %+v", r.Findings, r.Capacity)
	}
	in.Parameters["Counting"], in.Rate = "receipts", 4000
	if r := run(t, in); len(r.Findings) > 0 || r.Capacity.Sustained != 0 {
		t.Errorf("receipts are not measured: %v, %+v", r.Findings, r.Capacity)
	}
}

// If no memory is enough, the advice is another pipeline. A sample shows better than the worst case
// how much memory is needed.
func TestARateForNoMemory(t *testing.T) {
	var more strings.Builder
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r") {
		more.WriteString("  more_" + name +
			": {since: 1, by: {product: '{product_id}'}, from: {order.placed: {values: {orders: count}}}}\n")
	}
	in := own{pipeline: [][2]string{{"\naggregates:\n", "\naggregates:\n" + more.String()}}}.input(t)
	in.Rate, in.Partitions = 1000, 1
	if r := run(t, in); r.Capacity.Updates != 21 {
		t.Errorf("%+v", r.Capacity)
	}
	updates := 1.0
	for estimate.MemoryFor(1000, updates) != 0 {
		updates *= 2
	}
	in.Events = &sample.Report{File: "s.ndjson", Items: sample.Items{Count: 10, Parts: 5},
		Updates: sample.Updates{Count: int(10 * updates), Each: 2 * updates}}
	r := run(t, in)
	if len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].Instead, "fewer aggregates of many keys") || r.Capacity.By != "s.ndjson" {
		t.Errorf("%v, %+v", r.Findings, r.Capacity)
	}
	in.Events.Updates.Count, in.Events.Updates.Each = 15, 3 // a part is a change too
	if r := run(t, in); len(r.Findings) > 0 || r.Capacity.Updates != 1.5 ||
		!strings.Contains(r.Capacity.text(), "updates  1.50 of each change, by s.ndjson") {
		t.Errorf("%v, %s", r.Findings, r.Capacity.text())
	}
}

func TestMoreThanPartitionsTake(t *testing.T) {
	in := own{}.input(t)
	in.Rate, in.Partitions = 4001, 4
	r := run(t, in)
	if k := r.Capacity; k.Enough || k.PerShard != 1000 ||
		!strings.Contains(k.text(), "the most that a partition takes: the table needs at least 5") {
		t.Errorf("%s", r.Capacity.text())
	}
	in.Rate = 0
	if r := run(t, in); r.Capacity != nil {
		t.Error("no rate was asked for")
	}
}
