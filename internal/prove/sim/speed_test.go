package sim

import "testing"

// BenchmarkWorld lives one world after the other, each with another seed.
func BenchmarkWorld(b *testing.B) {
	b.ReportAllocs()
	seed := uint64(0)
	for b.Loop() {
		if r := Run(seed); r.Failure != nil {
			b.Fatalf("seed %d: %v", seed, r.Failure)
		}
		seed++
	}
}
