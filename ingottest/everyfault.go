package ingottest

import (
	"fmt"
	"testing"
)

// EveryFault runs a scenario once without faults, and then again and again, each time in a new
// world. In these runs a crash follows each single request that a function sent, the answer to each
// request is lost, each request is throttled, each transaction meets another one ([World.Contend]),
// and each read that may be stale is stale ([World.StaleRead]). Each run ends with [World.Verify].
// The scenario's assertions must hold in all of these runs. It may count items and totals, but not
// deliveries or letters, because a fault may double these.
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
		for _, request := range known.several[f] {
			try(contend, request)
		}
		for _, request := range known.mayBe[f] {
			try(staleRead, request)
		}
	}
}
