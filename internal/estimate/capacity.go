package estimate

import "math"

// Sustained is about how many changes a second one streams function of so many MB counts, if each change moves so many
// totals and no two changes of a batch share one. Fewer updates are needed where they do.
func Sustained(memory int, updates float64) float64 {
	computing := (CPUPerChange + updates*CPUPerUpdate) / cores(memory)
	waiting := updates * RequestsPerUpdate * Latency / InFlight
	return 1 / (computing + waiting)
}

// MemoryFor is the least memory in MB, in steps of 64, at which one streams function keeps up with so many changes a
// second; 0 if none does.
func MemoryFor(changes, updates float64) int {
	for memory := LeastMemory; memory <= MostMemory; memory += 64 {
		if Sustained(memory, updates) >= changes {
			return memory
		}
	}
	return 0
}

// Shards is how many partitions a table needs at least to take so many changes a second.
func Shards(changes float64) int {
	return max(1, int(math.Ceil(changes/ChangesPerShard)))
}
