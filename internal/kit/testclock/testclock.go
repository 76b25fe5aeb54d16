// Package testclock is the time of tests that read the sample events: CI runs them once more a year
// ahead.
package testclock

import (
	"os"
	"testing"
	"time"
)

// Now is the real time, moved by Ahead.
func Now(t testing.TB) time.Time {
	t.Helper()
	return time.Now().Add(Ahead(t))
}

// Ahead is INGOT_TEST_CLOCK_AHEAD, a duration such as 8760h; 0 if it is not set.
func Ahead(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("INGOT_TEST_CLOCK_AHEAD")
	if text == "" {
		return 0
	}
	ahead, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("INGOT_TEST_CLOCK_AHEAD: %v", err)
	}
	return ahead
}
