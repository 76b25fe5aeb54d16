// Package tasks runs the tasks of a simulated world as coroutines: one at a time, in an order that
// the world decides, on a clock that the world sets. It knows nothing of what the tasks do.
package tasks

import (
	"iter"
	"time"
)

// Task is what goes on in a world beside the rest: a mapping, an invocation, or a goroutine of an
// invocation. Tasks are coroutines. One runs at a time, until it parks. O is what a task belongs
// to.
type Task[O any] struct {
	Name  string
	Of    O // its zero value for a task that belongs to nothing
	Ended bool
	ready func() bool // nil if it waits for nothing
	wake  time.Time   // it does not run before this time
	do    func()
	on    *coroutine[O]
}

// coroutine runs one task after the other. Making a coroutine and growing its stack costs more than
// most tasks do.
type coroutine[O any] struct {
	task  *Task[O]
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
}

// Killed unwinds a task that is stopped where it stands.
type Killed struct{}

// Scheduler runs tasks and advances the time of the world.
type Scheduler[O any] struct {
	Now     time.Time
	Tasks   []*Task[O]
	Current *Task[O]
	free    []*coroutine[O] // those whose task has ended
}

// Spawn adds a task. It does not run yet.
func (s *Scheduler[O]) Spawn(name string, of O, do func()) *Task[O] {
	t := &Task[O]{Name: name, Of: of, do: do}
	if n := len(s.free); n > 0 {
		t.on, s.free = s.free[n-1], s.free[:n-1]
	} else {
		t.on = s.coroutine()
	}
	t.on.task = t
	s.Tasks = append(s.Tasks, t)
	return t
}

// coroutine starts a coroutine that waits for a task.
func (s *Scheduler[O]) coroutine() *coroutine[O] {
	c := &coroutine[O]{}
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

// run runs the coroutine's task. It reports whether the task came to its end without being killed.
func (c *coroutine[O]) run() (whole bool) {
	t := c.task
	defer func() {
		t.Ended = true
		if r := recover(); r != nil && r != (Killed{}) {
			panic(r)
		}
	}()
	t.do()
	return true
}

// Park lets others go on until ready holds and wake is reached. Only the current task may call it.
func (s *Scheduler[O]) Park(wake time.Time, ready func() bool) {
	t := s.Current
	t.wake, t.ready = wake, ready
	if !t.on.yield(struct{}{}) {
		panic(Killed{})
	}
	t.ready = nil
}

// Pause lets others go first.
func (s *Scheduler[O]) Pause() { s.Park(s.Now, nil) }

// Sleep parks for d.
func (s *Scheduler[O]) Sleep(d time.Duration) { s.Park(s.Now.Add(d), nil) }

// Resume runs t until it parks or ends.
func (s *Scheduler[O]) Resume(t *Task[O]) {
	s.Current = t
	t.on.next()
	s.Current = nil
}

// Kill stops t where it is parked. None of its code after that runs.
func (s *Scheduler[O]) Kill(t *Task[O]) {
	if t.Ended {
		return
	}
	s.Current = t
	t.on.stop()
	t.Ended = true
	s.Current = nil
}

// KillAll ends everything, so that no coroutine outlives its world.
func (s *Scheduler[O]) KillAll() {
	for _, t := range s.Tasks {
		s.Kill(t)
	}
	for _, c := range s.free {
		c.stop()
	}
	s.Tasks, s.free = nil, nil
}

// Runnable drops ended tasks and returns those that can go on now. earliest is the next time at
// which another task may go on. It is zero if no task waits for a time.
func (s *Scheduler[O]) Runnable(buffer []*Task[O]) (ready []*Task[O], earliest time.Time) {
	ready = buffer[:0]
	kept := s.Tasks[:0]
	for _, t := range s.Tasks {
		if t.Ended {
			continue
		}
		kept = append(kept, t)
		switch {
		case t.ready != nil && t.ready():
			ready = append(ready, t)
		case t.ready != nil && t.wake.IsZero():
		case !t.wake.After(s.Now):
			ready = append(ready, t)
		case earliest.IsZero() || t.wake.Before(earliest):
			earliest = t.wake
		}
	}
	clear(s.Tasks[len(kept):])
	s.Tasks = kept
	return ready, earliest
}
