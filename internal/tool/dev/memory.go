package dev

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// headroom is how much garbage the heap may hold. With Go's default it could hold as much garbage
// as data: a gigabyte with a million events.
const headroom = 192 << 20

// These limit how much time the garbage collector takes, and how often spare checks how much memory
// is in use.
const (
	leastPercent = 15
	mostPercent  = 400
	spareEvery   = time.Second
)

// spare adjusts the garbage collector to the memory in use. It must be called again as that grows.
// It returns a function that undoes the change.
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
