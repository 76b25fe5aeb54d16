package ingottest

import (
	"fmt"
	"testing"
)

// EveryFault runs a scenario once as it is, and then again and again in a new world each time: with a crash
// after every single request that a function sent, with the answer to each lost, and with each throttled. Each
// run ends with Verify. What the scenario asserts must hold in all of them: it may count items and totals, but not
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
	var sent [Streams + 1]int
	t.Run("no fault", func(t *testing.T) { sent = run(t, func(*World) {}).faults.sent })
	if t.Failed() {
		return
	}
	for _, f := range []Function{Ingest, Streams} {
		for _, k := range []faultKind{crash, loseAnswer, throttle} {
			for request := range sent[f] {
				t.Run(fmt.Sprintf("%s %s %d", k, f, request+1), func(t *testing.T) {
					run(t, func(w *World) { w.plant(f, k, request+1) })
				})
			}
		}
	}
}
