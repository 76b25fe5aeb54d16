package testworld

import (
	"context"
	"errors"

	"github.com/ingot-events/ingot/internal/esm"
)

// Sandbox runs a function as Lambda does. It starts cold, and stays warm from one invocation to the
// next. After it was killed, it starts cold again with nothing in memory.
type Sandbox struct {
	Cold   func(context.Context) (esm.Handler, error)
	Killed bool // the last invocation was killed

	warm esm.Handler // nil: cold
}

// errKilled is the error that Lambda sees if a function was killed.
var errKilled = errors.New("the function was killed")

// killed is what a function panics with when it is killed.
type killed struct{}

// Kill ends the current invocation. Everything in it runs on one goroutine, so nothing of it goes
// on.
func Kill() { panic(killed{}) }

// Warm starts the function if it is cold.
func (s *Sandbox) Warm(ctx context.Context) (err error) {
	if s.Killed = false; s.warm == nil {
		s.warm, err = s.Cold(ctx)
	}
	return err
}

// Invoke runs one invocation.
func (s *Sandbox) Invoke(ctx context.Context, payload []byte) (answer []byte, err error) {
	defer func() {
		r := recover()
		if _, ours := r.(killed); ours {
			s.warm, s.Killed, answer, err = nil, true, nil, errKilled
		} else if r != nil {
			panic(r)
		}
	}()
	if err := s.Warm(ctx); err != nil {
		return nil, err
	}
	return s.warm(ctx, payload)
}
