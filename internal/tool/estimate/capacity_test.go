package estimate_test

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/estimate"
)

func TestSustained(t *testing.T) {
	for updates := 0.0; updates < 20; updates++ {
		for memory := estimate.LeastMemory; memory < estimate.MostMemory; memory += 64 {
			s := estimate.Sustained(memory, updates)
			if s <= 0 || s > estimate.Sustained(memory+64, updates) || s <= estimate.Sustained(memory, updates+1) {
				t.Fatalf("%d MB, %v updates: %v changes a second", memory, updates, s)
			}
		}
	}
	for changes := 1.0; changes < 5000; changes *= 1.3 {
		least := estimate.MemoryFor(changes, 3)
		switch {
		case least == 0:
			if estimate.Sustained(estimate.MostMemory, 3) >= changes {
				t.Errorf("%v changes a second need no more than there is", changes)
			}
		case estimate.Sustained(least, 3) < changes, least > estimate.LeastMemory && estimate.Sustained(least-64, 3) >= changes:
			t.Errorf("%d MB is not the least for %v changes a second", least, changes)
		}
	}
	for changes, want := range map[float64]int{1: 1, 1000: 1, 1001: 2, 1e6: 1000} {
		must.Equal(t, estimate.Shards(changes), want, changes)
	}
}
