package payloads

import "sync"

// Room bounds how many bytes of payloads are in memory at once. Readers share it. A payload that is
// larger than the whole room is read while there is no other, so one reader always gets further.
type Room struct {
	Size int64

	mu   sync.Mutex
	used int64
}

// Used returns how many bytes are taken.
func (r *Room) Used() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// Share is what one reader has of a room. Only this reader uses it.
type Share struct {
	Of    *Room
	bytes int64
}

// Fits reports whether there is room for a payload of so many bytes, and takes it. What the reader
// had before is given back first: a request that is sent again may find another object.
func (s *Share) Fits(bytes int64) bool {
	s.Of.mu.Lock()
	defer s.Of.mu.Unlock()
	s.Of.used -= s.bytes
	s.bytes = 0
	if s.Of.used > 0 && s.Of.used+bytes > s.Of.Size {
		return false
	}
	s.Of.used += bytes
	s.bytes = bytes
	return true
}

// Leave gives the share back, when its payload is let go of.
func (s *Share) Leave() {
	s.Of.mu.Lock()
	defer s.Of.mu.Unlock()
	s.Of.used -= s.bytes
	s.bytes = 0
}
