package dev

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// headroom is how much memory the process may take for what is no longer needed. With Go's default, that
// would be as much as is needed: a gigabyte beside a million events.
const headroom = 192 << 20

// These bound the time that goes into looking for memory, and how often to look how much is in use.
const (
	leastPercent = 15
	mostPercent  = 400
	spareEvery   = time.Second
)

// spare adjusts the collector to how much memory is in use, which grows. It returns how to undo it.
func spare() (undo func()) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := float64(mostPercent)
	if bytes := live[0].Value.Uint64(); bytes > 0 {
		percent = math.Min(percent, math.Max(leastPercent, headroom*100/float64(bytes)))
	}
	before := debug.SetGCPercent(int(percent))
	return func() { debug.SetGCPercent(before) }
}
