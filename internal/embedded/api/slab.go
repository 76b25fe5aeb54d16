package api

import "unsafe"

// Slab hands out short slices of large blocks. What is loaded all at once then needs few allocations,
// and the collector has few objects to look at. A block stays until nothing of it is in use. The zero
// Slab can be used.
type Slab[T any] struct{ rest []T }

// slabBytes is about how large a block is.
const slabBytes = 64 << 10

// Take returns n zero values. An append to them moves them elsewhere.
func (s *Slab[T]) Take(n int) []T {
	if n > len(s.rest) {
		var one T
		s.rest = make([]T, max(n, slabBytes/int(unsafe.Sizeof(one))))
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// TextIn copies bytes into a block.
func TextIn(s *Slab[byte], b []byte) string {
	if len(b) == 0 {
		return ""
	}
	text := s.Take(len(b))
	copy(text, b)
	return unsafe.String(&text[0], len(text)) // nobody else has these bytes
}
