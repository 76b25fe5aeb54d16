package function

import (
	"math"
	"runtime/debug"
	"strconv"
)

// The garbage collector runs when the heap has grown by lazy or lazier percent. Go's own value is
// 100. In a sandbox of at least roomy megabytes it is lazier, which saves a tenth of the CPU time
// of an event. In the smallest sandbox, that would use the memory that the largest batches need.
const (
	lazy, lazier = 200, 300
	roomy        = 512
)

// limitMemory sets the memory limit of the Go runtime to four fifths of the sandbox. The last fifth
// is for memory that the collector does not count, and for what is allocated while it runs on a
// slow processor. With the limit, a large batch makes the collector run more often. Without it, the
// heap might grow once more than the sandbox allows, and Lambda would kill the process. If
// GOMEMLIMIT is set, limitMemory changes nothing.
//
// Below the limit, the collector may be lazier than usual. Then a cold start and its first batch
// need no collection at all. If GOGC is set, limitMemory does not change it.
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
