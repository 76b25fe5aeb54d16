package sim

import (
	"iter"
	"time"
)

// task is one strand of a world: a mapping, an invocation, a goroutine of an invocation. Tasks are coroutines:
// one runs at a time, until it parks.
type task struct {
	name  string
	of    *invocation // nil for those that are not part of one
	ready func() bool // nil: it waits for nothing
	wake  time.Time   // not before
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
	ended bool
}

// killed unwinds a task that is stopped where it stands.
type killed struct{}

// scheduler runs tasks, and is where the world's time passes.
type scheduler struct {
	now     time.Time
	tasks   []*task
	current *task
}

// spawn adds a task. It does not run yet.
func (s *scheduler) spawn(name string, of *invocation, do func()) *task {
	t := &task{name: name, of: of}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			t.ended = true
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
		}()
		do()
	})
	s.tasks = append(s.tasks, t)
	return t
}

// park lets others go on until ready holds and the time is wake. Only the current task may call it.
func (s *scheduler) park(wake time.Time, ready func() bool) {
	t := s.current
	t.wake, t.ready = wake, ready
	if !t.yield(struct{}{}) {
		panic(killed{})
	}
	t.ready = nil
}

// pause lets others go first.
func (s *scheduler) pause() { s.park(s.now, nil) }

// sleep parks for d.
func (s *scheduler) sleep(d time.Duration) { s.park(s.now.Add(d), nil) }

// resume runs t until it parks or ends.
func (s *scheduler) resume(t *task) {
	s.current = t
	t.next()
	s.current = nil
}

// kill stops t where it is parked: none of its code after that runs.
func (s *scheduler) kill(t *task) {
	if t.ended {
		return
	}
	s.current = t
	t.stop()
	t.ended = true
	s.current = nil
}

// killAll ends everything, so that no coroutine outlives its world.
func (s *scheduler) killAll() {
	for _, t := range s.tasks {
		s.kill(t)
	}
	s.tasks = nil
}

// runnable drops ended tasks and returns those that can go on now. earliest is the next time at which another
// may; zero if none waits for a time.
func (s *scheduler) runnable(buffer []*task) (ready []*task, earliest time.Time) {
	ready = buffer[:0]
	kept := s.tasks[:0]
	for _, t := range s.tasks {
		if t.ended {
			continue
		}
		kept = append(kept, t)
		switch {
		case t.ready != nil && t.ready():
			ready = append(ready, t)
		case t.ready != nil && t.wake.IsZero():
		case !t.wake.After(s.now):
			ready = append(ready, t)
		case earliest.IsZero() || t.wake.Before(earliest):
			earliest = t.wake
		}
	}
	clear(s.tasks[len(kept):])
	s.tasks = kept
	return ready, earliest
}
