package embedded

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The twin is a sorted slice.
func TestListAgainstSlice(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 0))
	var l list[int]
	var twin []int
	for i := range 30_000 {
		v := r.IntN(8000)
		if i < 4000 {
			v = 10_000 + i // an ascending run first
		}
		p, found := l.find(func(x int) int { return cmp.Compare(x, v) })
		at, twinFound := slices.BinarySearch(twin, v)
		if found != twinFound {
			t.Fatalf("seed %d, step %d: find(%d) = %v", seed, i, v, found)
		}
		switch {
		case !found:
			l.insert(p, v)
			twin = slices.Insert(twin, at, v)
		case r.IntN(3) == 0:
			l.remove(p)
			twin = slices.Delete(twin, at, at+1)
		}
		if l.n != len(twin) {
			t.Fatalf("seed %d, step %d: %d elements, want %d", seed, i, l.n, len(twin))
		}
	}
	var forward, back []int
	last := position{len(l.chunks), 0}
	for p := (position{}); l.valid(p); p = l.next(p) {
		forward = append(forward, l.at(p))
	}
	for p := l.previous(last); l.valid(p); p = l.previous(p) {
		back = append(back, l.at(p))
	}
	slices.Reverse(back)
	if !slices.Equal(forward, twin) || !slices.Equal(back, twin) {
		t.Fatalf("seed %d: order differs from the twin's", seed)
	}
	for _, v := range twin {
		p, _ := l.find(func(x int) int { return cmp.Compare(x, v) })
		l.remove(p)
	}
	if l.n != 0 || len(l.chunks) != 0 || l.valid(position{}) {
		t.Errorf("emptied list: %d elements, %d chunks", l.n, len(l.chunks))
	}
}
