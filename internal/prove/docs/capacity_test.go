package docs

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/estimate"
)

// TestDefaultMemory compares the memory that the guide names with that of the template. The tests
// of internal/tool/check use the same.
func TestDefaultMemory(t *testing.T) {
	least := estimate.MemoryFor(estimate.ChangesPerShard, updatesOfEach)
	must.Say(t, oneLine(t, deployPage), fmt.Sprintf("keep up with a full shard: %d.", least))
}

// TestCapacityTable compares the guide's table of capacity with what check computes with.
func TestCapacityTable(t *testing.T) {
	var want [][]string
	for memory := 256; memory <= 4096; memory *= 2 {
		row := []string{fmt.Sprint(memory)}
		for _, updates := range []float64{1, 2, 3, 4, 8} {
			row = append(row, fmt.Sprint(int(estimate.Sustained(memory, updates))))
		}
		want = append(want, row)
	}
	compareTable(t, deployPage, "capacity", want)
}
