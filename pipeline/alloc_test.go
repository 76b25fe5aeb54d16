package pipeline

import (
	"os"
	"runtime"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

// Decoding and planning an order must not allocate more often than stated here. It allocates the
// document, the item, its id, its digest, one string for all keys, its lists, and a few times
// inside the functions of its templates.
func TestPlanAllocations(t *testing.T) {
	p := plain(t)
	m := envelope.Message{Body: order400}
	got := testing.AllocsPerRun(200, func() {
		if _, err := p.Plan(m); err != nil {
			t.Fatal(err)
		}
	})
	if got > 14 {
		t.Errorf("%v allocations", got)
	}
}

// Each cold start of a function loads its pipeline. What that allocates is touched for the first
// time, and costs a cold start more than a running function. The YAML parser takes two thirds.
func TestLoadAllocations(t *testing.T) {
	const times = 5
	var before, after runtime.MemStats
	for i := range times + 1 {
		if i == 1 { // the first load also makes what all loads share
			runtime.ReadMemStats(&before)
		}
		if _, err := LoadForIngest(os.DirFS("../"), sampleshop.Pipeline, CheckOnly()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.Mallocs - before.Mallocs) / times; n > 8_600 {
		t.Errorf("%d allocations", n)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) / times; n > 620_000 {
		t.Errorf("%d bytes", n)
	}
}
