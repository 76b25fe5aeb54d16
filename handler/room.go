package handler

import "sync"

// room bounds how many bytes of payloads are in memory at once. Readers share it. A payload that is
// larger than the whole room is read while there is no other, so one reader always gets further.
type room struct {
	size int64

	mu   sync.Mutex
	used int64
}

// share is what one reader has of a room. Only this reader uses it.
type share struct {
	of    *room
	bytes int64
}

// fits reports whether there is room for a payload of so many bytes, and takes it. What the reader
// had before is given back first: a request that is sent again may find another object.
func (s *share) fits(bytes int64) bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.used -= s.bytes
	s.bytes = 0
	if s.of.used > 0 && s.of.used+bytes > s.of.size {
		return false
	}
	s.of.used += bytes
	s.bytes = bytes
	return true
}

// leave gives the share back, when its payload is let go of.
func (s *share) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.used -= s.bytes
	s.bytes = 0
}
