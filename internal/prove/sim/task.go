package sim

import (
	"iter"
	"time"
)

// task is one strand of a world: a mapping, an invocation, or a goroutine of an invocation. Tasks
// are coroutines. One runs at a time, until it parks.
type task struct {
	name  string
	of    *invocation // nil for a task that is not part of an invocation
	ready func() bool // nil if it waits for nothing
	wake  time.Time   // it does not run before this time
	do    func()
	on    *strand
	ended bool
}

// strand is a coroutine that runs one task after the other. Making a coroutine and growing its
// stack costs more than most tasks do.
type strand struct {
	task  *task
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
}

// killed unwinds a task that is stopped where it stands.
type killed struct{}

// scheduler runs tasks and advances the time of the world.
type scheduler struct {
	now     time.Time
	tasks   []*task
	current *task
	free    []*strand // those whose task has ended
}

// spawn adds a task. It does not run yet.
func (s *scheduler) spawn(name string, of *invocation, do func()) *task {
	t := &task{name: name, of: of, do: do}
	if n := len(s.free); n > 0 {
		t.on, s.free = s.free[n-1], s.free[:n-1]
	} else {
		t.on = s.strand()
	}
	t.on.task = t
	s.tasks = append(s.tasks, t)
	return t
}

// strand starts a coroutine that waits for a task.
func (s *scheduler) strand() *strand {
	c := &strand{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for c.run() {
			s.free = append(s.free, c)
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return c
}

// run runs the strand's task. It reports whether the task came to its end without being killed.
func (c *strand) run() (whole bool) {
	t := c.task
	defer func() {
		t.ended = true
		if r := recover(); r != nil && r != (killed{}) {
			panic(r)
		}
	}()
	t.do()
	return true
}

// park lets others go on until ready holds and wake is reached. Only the current task may call it.
func (s *scheduler) park(wake time.Time, ready func() bool) {
	t := s.current
	t.wake, t.ready = wake, ready
	if !t.on.yield(struct{}{}) {
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
	t.on.next()
	s.current = nil
}

// kill stops t where it is parked. None of its code after that runs.
func (s *scheduler) kill(t *task) {
	if t.ended {
		return
	}
	s.current = t
	t.on.stop()
	t.ended = true
	s.current = nil
}

// killAll ends everything, so that no coroutine outlives its world.
func (s *scheduler) killAll() {
	for _, t := range s.tasks {
		s.kill(t)
	}
	for _, c := range s.free {
		c.stop()
	}
	s.tasks, s.free = nil, nil
}

// runnable drops ended tasks and returns those that can go on now. earliest is the next time at
// which another task may go on. It is zero if no task waits for a time.
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
