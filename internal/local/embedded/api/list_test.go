package api

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestListAgainstSlice compares a List with a sorted slice.
func TestListAgainstSlice(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 0))
	var l List[int]
	var twin []int
	for i := range 30_000 {
		v := r.IntN(8000)
		if i < 4000 {
			v = 10_000 + i // an ascending run first
		}
		p, found := l.Find(func(x int) int { return cmp.Compare(x, v) })
		at, twinFound := slices.BinarySearch(twin, v)
		if found != twinFound {
			t.Fatalf("seed %d, step %d: find(%d) = %v", seed, i, v, found)
		}
		switch {
		case !found:
			l.Insert(p, v)
			twin = slices.Insert(twin, at, v)
		case r.IntN(3) == 0:
			l.Remove(p)
			twin = slices.Delete(twin, at, at+1)
		}
		if l.n != len(twin) {
			t.Fatalf("seed %d, step %d: %d elements, want %d", seed, i, l.n, len(twin))
		}
	}
	var forward, back []int
	last := Position{len(l.chunks), 0}
	for p := (Position{}); l.Valid(p); p = l.Next(p) {
		forward = append(forward, l.At(p))
	}
	for p := l.Previous(last); l.Valid(p); p = l.Previous(p) {
		back = append(back, l.At(p))
	}
	slices.Reverse(back)
	if !slices.Equal(forward, twin) || !slices.Equal(back, twin) {
		t.Fatalf("seed %d: order differs from the twin's", seed)
	}
	for _, v := range twin {
		p, _ := l.Find(func(x int) int { return cmp.Compare(x, v) })
		l.Remove(p)
	}
	if l.n != 0 || len(l.chunks) != 0 || l.Valid(Position{}) {
		t.Errorf("emptied list: %d elements, %d chunks", l.n, len(l.chunks))
	}
}
