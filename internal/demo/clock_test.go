package demo

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	noon := time.Date(2018, 2, 1, 12, 0, 0, 0, time.UTC)
	c := &clock{now: noon}
	c.reach(noon.Add(-time.Hour))
	if !c.now.Equal(noon) {
		t.Error("the clock went back")
	}
	outer, cancelOuter := c.deadline(context.Background(), noon.Add(time.Minute))
	inner, cancel := c.deadline(outer, noon.Add(time.Hour))
	defer cancelOuter()
	if at, ok := inner.Deadline(); !ok || !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("the inner deadline is %v, want the outer one", at)
	}
	if err := c.sleep(inner, 59*time.Second); err != nil {
		t.Errorf("before the deadline: %v", err)
	}
	if err := c.sleep(inner, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the deadline: %v", err)
	}
	if err := c.sleep(inner, time.Hour); err == nil || !c.now.Equal(noon.Add(time.Minute)) {
		t.Errorf("after the deadline: %v, and the clock stands at %v", err, c.now)
	}
	other, stop := c.deadline(context.Background(), noon.Add(time.Hour))
	stop()
	if !errors.Is(other.Err(), context.Canceled) {
		t.Errorf("cancelled: %v", other.Err())
	}
	cancel()
}
