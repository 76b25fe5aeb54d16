package testworld

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestClock(t *testing.T) {
	noon := must.Time("2018-02-01T12:00:00Z")
	c := NewClock(noon)
	c.Reach(noon.Add(-time.Hour))
	if !c.Now().Equal(noon) {
		t.Error("the clock went back")
	}
	outer, cancelOuter := c.Deadline(context.Background(), noon.Add(time.Minute))
	inner, cancel := c.Deadline(outer, noon.Add(time.Hour))
	defer cancelOuter()
	if at, ok := inner.Deadline(); !ok || !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("the inner deadline is %v, want the outer one", at)
	}
	if err := c.Sleep(inner, 59*time.Second); err != nil {
		t.Errorf("before the deadline: %v", err)
	}
	if err := c.Sleep(inner, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the deadline: %v", err)
	}
	if err := c.Sleep(inner, time.Hour); err == nil || !c.Now().Equal(noon.Add(time.Minute)) {
		t.Errorf("after the deadline: %v, and the clock stands at %v", err, c.Now())
	}
	other, stop := c.Deadline(context.Background(), noon.Add(time.Hour))
	stop()
	if !errors.Is(other.Err(), context.Canceled) {
		t.Errorf("cancelled: %v", other.Err())
	}
	cancel()
}
