package testworld

import (
	"context"
	"errors"
	"testing"

	"github.com/ingot-events/ingot/internal/esm"
)

// TestSandbox shows that a sandbox starts cold once, and again after it was killed. A panic of
// another origin does not count as a kill.
func TestSandbox(t *testing.T) {
	starts, calls, failing := 0, 0, errors.New("no start")
	s := Sandbox{Cold: func(context.Context) (esm.Handler, error) {
		if failing != nil {
			return nil, failing
		}
		starts++
		return func(_ context.Context, payload []byte) ([]byte, error) {
			switch calls++; string(payload) {
			case "kill":
				Kill()
			case "panic":
				panic("its own")
			}
			return payload, nil
		}, nil
	}}
	if _, err := s.Invoke(t.Context(), nil); !errors.Is(err, failing) {
		t.Errorf("a start that fails: %v", err)
	}
	failing = nil
	for _, c := range []struct {
		payload string
		starts  int
		killed  bool
	}{{"a", 1, false}, {"b", 1, false}, {"kill", 1, true}, {"c", 2, false}} {
		answer, err := s.Invoke(t.Context(), []byte(c.payload))
		if s.Killed != c.killed || (err != nil) != c.killed || starts != c.starts || !c.killed && string(answer) != c.payload {
			t.Errorf("%s: %s, %v, killed %v after %d starts", c.payload, answer, err, s.Killed, starts)
		}
	}
	defer func() {
		if r := recover(); r != "its own" || calls != 5 {
			t.Errorf("recovered %v after %d calls", r, calls)
		}
	}()
	_, _ = s.Invoke(t.Context(), []byte("panic"))
}
