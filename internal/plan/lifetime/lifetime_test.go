package lifetime

import (
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "90m": 90 * time.Minute, "12h": 12 * time.Hour, "90d": 90 * 24 * time.Hour, "2w": 14 * 24 * time.Hour,
		"007d": 7 * 24 * time.Hour,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "1", "0s", "-1d", "+1d", "1.5h", "1y", "1D", "1 d", " 1d", "1d2h", "99999999999999999999d",
		"73001d"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for want, d := range map[string]time.Duration{"14d": 14 * 24 * time.Hour, "36h": 36 * time.Hour, "90s": 90 * time.Second,
		"500ms": time.Second / 2} {
		must.Equal(t, Format(d), want, d)
	}
}

func TestWindows(t *testing.T) {
	for text, want := range map[string]time.Duration{"1mo": Month, "1y": Year, "1m": time.Minute, "31d": 31 * Day} {
		if got, err := ParseWindow(text); err != nil || got != want || FormatWindow(got) != text {
			t.Errorf("%s: %v, %v, and back %s", text, got, err, FormatWindow(got))
		}
	}
	for _, text := range []string{"2mo", "01mo", "mo", "2y", "y", "-1mo", "1 mo"} {
		if got, err := ParseWindow(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestZeroIsForEver(t *testing.T) {
	for _, c := range []struct {
		a, b time.Duration
		want bool
	}{{1, 2, true}, {2, 1, false}, {1, 1, false}, {1, 0, true}, {0, 1, false}, {0, 0, false}} {
		must.Equal(t, Shorter(c.a, c.b), c.want)
	}
	if Outliving(0) != 0 || Outliving(90*Day) != 97*Day {
		t.Error("what outlives what is kept for ever, or for 90 days")
	}
}
