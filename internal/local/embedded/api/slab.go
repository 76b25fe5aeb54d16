package api

import "unsafe"

// Slab hands out short slices of large blocks. So a large load needs few allocations, and the
// garbage collector has few objects to look at. A block stays in memory until none of its slices is
// in use. The zero Slab is ready to use.
type Slab[T any] struct{ rest []T }

// slabBytes is about how large a block is.
const slabBytes = 64 << 10

// Take returns n zero values. The slice has no spare capacity, so an append to it copies it.
func (s *Slab[T]) Take(n int) []T {
	if n > len(s.rest) {
		var one T
		s.rest = make([]T, max(n, slabBytes/int(unsafe.Sizeof(one))))
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// TextIn returns a string with a copy of the bytes, whose memory is part of a block.
func TextIn(s *Slab[byte], b []byte) string {
	if len(b) == 0 {
		return ""
	}
	text := s.Take(len(b))
	copy(text, b)
	return unsafe.String(&text[0], len(text)) // nobody else has these bytes
}
