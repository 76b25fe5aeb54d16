package embedded

import (
	"slices"
	"sort"
)

// list keeps elements in order in chunks of bounded length, so that an insert into a list of a million
// moves a few kilobytes and not the whole list. The caller's find functions say what the order is.
type list[T any] struct {
	chunks [][]T // none of them empty
	n      int
}

const chunkLimit = 512

// position addresses an element, or the place where one would be inserted.
type position struct{ chunk, index int }

// find returns the place of the first element that is not below the target; cmp compares an element with
// the target.
func (l *list[T]) find(cmp func(T) int) (position, bool) {
	c := sort.Search(len(l.chunks), func(i int) bool { return cmp(l.chunks[i][len(l.chunks[i])-1]) >= 0 })
	if c == len(l.chunks) {
		return position{c, 0}, false
	}
	chunk := l.chunks[c]
	i := sort.Search(len(chunk), func(i int) bool { return cmp(chunk[i]) >= 0 })
	return position{c, i}, cmp(chunk[i]) == 0
}

func (l *list[T]) at(p position) T { return l.chunks[p.chunk][p.index] }

func (l *list[T]) replace(p position, v T) { l.chunks[p.chunk][p.index] = v }

// insert puts v before the element at p.
func (l *list[T]) insert(p position, v T) {
	l.n++
	if p.chunk == len(l.chunks) {
		if p.chunk == 0 {
			l.chunks = append(l.chunks, []T{v})
			return
		}
		p = position{p.chunk - 1, len(l.chunks[p.chunk-1])}
	}
	chunk := slices.Insert(l.chunks[p.chunk], p.index, v)
	l.chunks[p.chunk] = chunk
	if len(chunk) > chunkLimit {
		// A full chunk at the end is split there: ascending keys, the common case, leave full chunks behind.
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

func (l *list[T]) remove(p position) {
	l.n--
	l.chunks[p.chunk] = slices.Delete(l.chunks[p.chunk], p.index, p.index+1)
	if len(l.chunks[p.chunk]) == 0 {
		l.chunks = slices.Delete(l.chunks, p.chunk, p.chunk+1)
	}
}

// valid says whether there is an element at p.
func (l *list[T]) valid(p position) bool {
	return p.chunk >= 0 && p.chunk < len(l.chunks) && p.index < len(l.chunks[p.chunk])
}

func (l *list[T]) next(p position) position {
	if p.index+1 < len(l.chunks[p.chunk]) {
		return position{p.chunk, p.index + 1}
	}
	return position{p.chunk + 1, 0}
}

// previous of the first element, or of the end of an empty list, is not valid.
func (l *list[T]) previous(p position) position {
	if p.index > 0 {
		return position{p.chunk, p.index - 1}
	}
	if p.chunk == 0 {
		return position{-1, 0}
	}
	return position{p.chunk - 1, len(l.chunks[p.chunk-1]) - 1}
}
