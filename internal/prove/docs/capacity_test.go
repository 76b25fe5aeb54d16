package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/estimate"
)

// TestDefaultMemory compares the memory that the guide names with that of the template. The tests
// of internal/tool/check use the same.
func TestDefaultMemory(t *testing.T) {
	least := estimate.MemoryFor(estimate.ChangesPerShard, updatesOfEach)
	if want := fmt.Sprintf("keep up with a full shard: %d.", least); !strings.Contains(strings.Join(strings.Fields(read(t, deployPage)),
		" "), want) {
		t.Errorf("%s does not say %q", deployPage, want)
	}
}

// TestCapacityTable compares the guide's table of capacity with what check computes with.
func TestCapacityTable(t *testing.T) {
	var want, got strings.Builder
	for memory := 256; memory <= 4096; memory *= 2 {
		fmt.Fprintf(&want, "| %d |", memory)
		for _, updates := range []float64{1, 2, 3, 4, 8} {
			fmt.Fprintf(&want, " %d |", int(estimate.Sustained(memory, updates)))
		}
		want.WriteString("\n")
	}
	for _, row := range table(t, deployPage, "capacity") {
		fmt.Fprintf(&got, "| %s |\n", strings.Join(row, " | "))
	}
	must.Equal(t, got.String(), want.String())
}
