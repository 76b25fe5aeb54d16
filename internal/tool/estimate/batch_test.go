package estimate_test

import (
	"math"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/estimate"
)

// A batch has the message that Lambda waited for, and what comes within the second after it. It
// never has more than a batch can hold, by number or by size.
func TestInBatch(t *testing.T) {
	for _, c := range []struct{ aSecond, bytes, least, most float64 }{
		{0, 400, 1, 1}, {0.5, 400, 1.5, 1.5}, {20, 400, 21, 21}, {5000, 400, estimate.MostInBatch, estimate.MostInBatch},
		{5000, 100_000, 50, 70}, // 6 MB
		{5000, 50 << 20, 1, 1},
	} {
		if got := estimate.InBatch(c.aSecond, c.bytes); got < c.least || got > c.most {
			t.Errorf("%v a second of %v bytes: %v in a batch, want %v to %v", c.aSecond, c.bytes, got, c.least, c.most)
		}
	}
}

// Full batches take as long as the number of changes suggests that, according to check, a function
// sustains.
func TestABatchTakesWhatIsSustained(t *testing.T) {
	for _, memory := range []int{256, 576, 2048} {
		full := estimate.Count{Changes: 1000, Updates: 4000, Requests: 4000 * estimate.RequestsPerUpdate}
		sustained := full.Changes / full.Seconds(memory)
		if want := estimate.Sustained(memory, 4); math.Abs(sustained-want) > want/100 {
			t.Errorf("%d MB: %v changes a second by the batch, %v by check", memory, sustained, want)
		}
	}
	little, much := estimate.Put{Messages: 100, Requests: 4}, estimate.Put{Messages: 1000, Requests: 40}
	if little.Seconds(512) >= much.Seconds(512) || much.Seconds(1024) >= much.Seconds(512) {
		t.Error("more messages take no longer, or more memory is no faster")
	}
}

// A total is touched from at most as many shards as there are, and from at most as many as there
// are batches that touched it.
func TestTouched(t *testing.T) {
	for _, c := range []struct{ batches, lanes, least, most float64 }{
		{0, 72, 0, 0}, {1, 72, 0.9, 1}, {72, 72, 40, 50}, {10_000, 72, 71.9, 72}, {5, 0, 0, 0},
	} {
		if got := estimate.Touched(c.batches, c.lanes); got < c.least || got > c.most {
			t.Errorf("%v batches from %v shards: %v, want %v to %v", c.batches, c.lanes, got, c.least, c.most)
		}
	}
}
