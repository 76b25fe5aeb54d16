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

// TestFilledLists fills lists of all lengths from one Filler, changes each of them, and compares
// them with slices. Those that were filled later share memory with it.
func TestFilledLists(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	var f Filler[int]
	lists := make([]List[int], 60)
	twins := make([][]int, len(lists))
	for i := range lists {
		n := i
		if i%10 == 9 {
			n = chunkLimit*i/10 + i%3 // more than one chunk
		}
		for v := range n {
			twins[i] = append(twins[i], 2*v)
		}
		f.Fill(&lists[i], twins[i])
	}
	for step := range 20_000 {
		i := r.IntN(len(lists))
		v := r.IntN(2*len(twins[i]) + 2)
		p, found := lists[i].Find(func(x int) int { return cmp.Compare(x, v) })
		at, twinFound := slices.BinarySearch(twins[i], v)
		switch {
		case found != twinFound:
			t.Fatalf("seed %d, step %d: find(%d) = %v in list %d", seed, step, v, found, i)
		case found && r.IntN(2) == 0:
			lists[i].Remove(p)
			twins[i] = slices.Delete(twins[i], at, at+1)
		case !found:
			lists[i].Insert(p, v)
			twins[i] = slices.Insert(twins[i], at, v)
		}
	}
	for i := range lists {
		var all []int
		for p := (Position{}); lists[i].Valid(p); p = lists[i].Next(p) {
			all = append(all, lists[i].At(p))
		}
		if !slices.Equal(all, twins[i]) || lists[i].Len() != len(all) {
			t.Errorf("seed %d: list %d has %d elements, and its twin %d; or they differ", seed, i, len(all), len(twins[i]))
		}
	}
}
