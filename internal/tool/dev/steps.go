package dev

import (
	"sync"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
)

// Step is one thing that happened in the pipeline. Exactly one of its pointers is set.
type Step struct {
	Number   int64 // from 1, without gaps
	At       time.Time
	Message  *handler.Outcome       // the ingest function is done with a message; it must not be altered
	Ingest   *handler.IngestReport  // ... and with its batch, with requests and units
	Change   *event.Change          // the streams function was given a change; it must not be altered
	Streams  *handler.StreamsReport // ... and is done with its batch
	Reloaded *Reloaded              // pipeline.yaml was read again
}

// Reloaded is a pipeline.yaml that was read again.
type Reloaded struct {
	Took    bool     // the functions run with it
	Objects []string // what is wrong with it, if it was not taken
	Notes   []string // what else to know
}

// remembered is how many steps are kept.
const remembered = 8192

// Steps keeps the latest steps. It is safe for concurrent use.
type Steps struct {
	mu   sync.Mutex
	ring []Step
	last int64
	more chan struct{} // closed at the next step; nil while nobody waits
}

func (s *Steps) add(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	step.Number = s.last
	if len(s.ring) < remembered {
		s.ring = append(s.ring, step)
	} else {
		s.ring[(s.last-1)%remembered] = step
	}
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

// After returns up to most of the steps that come after the one with this number, oldest first. If
// some of these are already forgotten, it begins with the oldest that is kept. more is closed when
// the next step is added.
func (s *Steps) After(number int64, most int) (steps []Step, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := max(number, s.last-int64(len(s.ring)))
	for n := first + 1; n <= s.last && len(steps) < most; n++ {
		steps = append(steps, s.ring[(n-1)%remembered])
	}
	if s.more == nil {
		s.more = make(chan struct{})
	}
	return steps, s.more
}

// Last returns the number of the latest step, or 0 if there is none.
func (s *Steps) Last() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
