package testclock

import (
	"testing"
	"time"
)

func TestNow(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "8760h": 365 * 24 * time.Hour, "-1h": -time.Hour} {
		t.Setenv("INGOT_TEST_CLOCK_AHEAD", text)
		before, now, after := time.Now().Add(want), Now(t), time.Now().Add(want)
		if now.Before(before) || now.After(after) {
			t.Errorf("%q: %s, want %s", text, now, before)
		}
	}
}
