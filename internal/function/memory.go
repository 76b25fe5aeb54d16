package function

import (
	"math"
	"runtime/debug"
	"strconv"
)

// These are the growths of the heap, in percent, after which the collector runs. Go's own value is
// 100. In a sandbox of at least roomy megabytes it is lazier, which saves a tenth of an event's CPU.
// In the smallest sandbox that would take the reserve of the largest batches.
const (
	lazy, lazier = 200, 300
	roomy        = 512
)

// limitMemory tells the collector how much memory the sandbox has, less a fifth for what the
// collector does not count, and for what is allocated while it runs on a slow processor. With a large
// batch it then collects more often. Without the limit, the heap may double once too often, and Lambda
// kills the process. If GOMEMLIMIT is set, it stands.
//
// Within the limit the collector may be lazier than usual: a cold start, with its first batch, then
// needs no collection at all. If GOGC is set, it stands.
func limitMemory(getenv func(string) string) {
	megabytes, err := strconv.ParseInt(getenv(memoryVariable), 10, 64)
	if err != nil || megabytes <= 0 || megabytes > math.MaxInt64>>21 || getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(megabytes << 20 / 5 * 4)
	if getenv("GOGC") == "" {
		growth := lazy
		if megabytes >= roomy {
			growth = lazier
		}
		debug.SetGCPercent(growth)
	}
}
