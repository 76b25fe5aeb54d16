package ingottest

import (
	"fmt"
	"testing"
)

// EveryFault runs a scenario once as it is, and then again and again in a new world each time: with a crash
// after every single request that a function sent, with the answer to each lost, with each throttled, and with each
// stale that is a read and may be (see StaleRead). Each run ends with Verify. What the scenario asserts must hold in all of them: it may count items and totals, but not
// deliveries or letters, which a fault may double.
func EveryFault(t *testing.T, c Config, scenario func(*testing.T, *World)) {
	t.Helper()
	run := func(t *testing.T, plant func(*World)) *World {
		w := New(t, c)
		plant(w)
		scenario(t, w)
		w.Verify()
		return w
	}
	var known faults
	t.Run("no fault", func(t *testing.T) { known = run(t, func(*World) {}).faults })
	if t.Failed() {
		return
	}
	for _, f := range []Function{Ingest, Streams} {
		try := func(k faultKind, request int) {
			t.Run(fmt.Sprintf("%s %s %d", k, f, request), func(t *testing.T) {
				run(t, func(w *World) { w.plant(f, k, request) })
			})
		}
		for _, k := range []faultKind{crash, loseAnswer, throttle} {
			for request := range known.sent[f] {
				try(k, request+1)
			}
		}
		for _, request := range known.mayBe[f] {
			try(staleRead, request)
		}
	}
}
