package estimate

import "math"

// Sustained returns about how many changes a second one streams function can count, given its
// memory in MB and how many totals each change moves. It assumes that no two changes of a batch
// share a total; if they do, fewer updates are needed.
func Sustained(memory int, updates float64) float64 {
	computing := (CPUPerChange + updates*CPUPerUpdate) / cores(memory)
	waiting := updates * RequestsPerUpdate * Latency / InFlight
	return 1 / (computing + waiting)
}

// MemoryFor returns the least memory in MB, in steps of 64, at which one streams function keeps up
// with so many changes a second. It returns 0 if no memory is enough.
func MemoryFor(changes, updates float64) int {
	for memory := LeastMemory; memory <= MostMemory; memory += 64 {
		if Sustained(memory, updates) >= changes {
			return memory
		}
	}
	return 0
}

// Shards returns how many partitions a table needs at least to take so many changes a second.
func Shards(changes float64) int {
	return max(1, int(math.Ceil(changes/ChangesPerShard)))
}
