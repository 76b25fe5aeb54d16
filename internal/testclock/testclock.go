// Package testclock is the time of tests that go by the real clock: CI runs them once more a year ahead.
package testclock

import (
	"os"
	"testing"
	"time"
)

// Now is the real time, or INGOT_TEST_CLOCK_AHEAD later, a duration such as 8760h.
func Now(t testing.TB) time.Time {
	t.Helper()
	text := os.Getenv("INGOT_TEST_CLOCK_AHEAD")
	if text == "" {
		return time.Now()
	}
	ahead, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("INGOT_TEST_CLOCK_AHEAD: %v", err)
	}
	return time.Now().Add(ahead)
}
