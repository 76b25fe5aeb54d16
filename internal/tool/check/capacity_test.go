package check

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/sample"
)

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
	must.Equal(t, run(t, in).Capacity.Updates, 21)
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
