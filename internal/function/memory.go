package function

import (
	"math"
	"runtime/debug"
	"strconv"
)

// lazy is the growth of the heap, in percent, after which the collector runs. Go's own value is 100.
const lazy = 200

// limitMemory tells the collector how much memory the sandbox has, less a tenth for what the
// collector does not count. With a large batch it then collects more often. Without the limit, the
// heap may double once too often, and Lambda kills the process. If GOMEMLIMIT is set, it stands.
//
// Within the limit the collector may be lazier than usual: a cold start, with its first batch, then
// needs no collection at all. If GOGC is set, it stands.
func limitMemory(getenv func(string) string) {
	megabytes, err := strconv.ParseInt(getenv(memoryVariable), 10, 64)
	if err != nil || megabytes <= 0 || megabytes > math.MaxInt64>>21 || getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(megabytes << 20 / 10 * 9)
	if getenv("GOGC") == "" {
		debug.SetGCPercent(lazy)
	}
}
