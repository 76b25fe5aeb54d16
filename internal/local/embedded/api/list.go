package api

import (
	"slices"
	"sort"
)

// List keeps elements in order, in chunks of bounded length. So an insert into a list of a million
// elements moves a few kilobytes and not the whole list. The find functions of the caller define
// the order.
type List[T any] struct {
	chunks [][]T // no chunk is empty
	n      int
}

const chunkLimit = 512

// Position addresses an element, or the place where an element would be inserted.
type Position struct{ chunk, index int }

// Find returns the place of the first element that is not below the target. cmp compares an element
// with the target. The second result reports whether that element equals the target.
func (l *List[T]) Find(cmp func(T) int) (Position, bool) {
	c := sort.Search(len(l.chunks), func(i int) bool { return cmp(l.chunks[i][len(l.chunks[i])-1]) >= 0 })
	if c == len(l.chunks) {
		return Position{c, 0}, false
	}
	chunk := l.chunks[c]
	i := sort.Search(len(chunk), func(i int) bool { return cmp(chunk[i]) >= 0 })
	return Position{c, i}, cmp(chunk[i]) == 0
}

// At returns the element at p.
func (l *List[T]) At(p Position) T { return l.chunks[p.chunk][p.index] }

// Replace puts v in the place of the element at p.
func (l *List[T]) Replace(p Position, v T) { l.chunks[p.chunk][p.index] = v }

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.n }

// Insert puts v before the element at p.
func (l *List[T]) Insert(p Position, v T) {
	l.n++
	if p.chunk == len(l.chunks) {
		if p.chunk == 0 {
			l.chunks = append(l.chunks, []T{v})
			return
		}
		p = Position{p.chunk - 1, len(l.chunks[p.chunk-1])}
	}
	chunk := slices.Insert(l.chunks[p.chunk], p.index, v)
	l.chunks[p.chunk] = chunk
	if len(chunk) > chunkLimit {
		// A full chunk at the end is split at its end. Ascending keys are the common case, and this
		// way they leave full chunks behind.
		cut := chunkLimit / 2
		if p.chunk == len(l.chunks)-1 && p.index == len(chunk)-1 {
			cut = chunkLimit
		}
		tail := slices.Clone(chunk[cut:])
		clear(chunk[cut:])
		l.chunks[p.chunk] = chunk[:cut:cut]
		l.chunks = slices.Insert(l.chunks, p.chunk+1, tail)
	}
}

// Remove takes the element at p out of the list.
func (l *List[T]) Remove(p Position) {
	l.n--
	l.chunks[p.chunk] = slices.Delete(l.chunks[p.chunk], p.index, p.index+1)
	if len(l.chunks[p.chunk]) == 0 {
		l.chunks = slices.Delete(l.chunks, p.chunk, p.chunk+1)
	}
}

// Valid reports whether there is an element at p.
func (l *List[T]) Valid(p Position) bool {
	return p.chunk >= 0 && p.chunk < len(l.chunks) && p.index < len(l.chunks[p.chunk])
}

// Next returns the place after p. After the last element the place is not valid.
func (l *List[T]) Next(p Position) Position {
	if p.index+1 < len(l.chunks[p.chunk]) {
		return Position{p.chunk, p.index + 1}
	}
	return Position{p.chunk + 1, 0}
}

// Previous returns the place before p. The place before the first element is not valid, and neither
// is the place before the end of an empty list.
func (l *List[T]) Previous(p Position) Position {
	if p.index > 0 {
		return Position{p.chunk, p.index - 1}
	}
	if p.chunk == 0 {
		return Position{-1, 0}
	}
	return Position{p.chunk - 1, len(l.chunks[p.chunk-1]) - 1}
}
