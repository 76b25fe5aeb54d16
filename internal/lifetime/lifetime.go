// Package lifetime knows how long things live: how pipeline.yaml writes it, and how two lifetimes compare. A lifetime of
// 0 is for ever.
package lifetime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is 24 hours: windows and lifetimes are in UTC.
const Day = 24 * time.Hour

// Max keeps a declared duration, and one with some days more, inside time.Duration's 292 years; two of them can be
// longer.
const Max = 200 * 365 * Day

var units = []struct {
	suffix string
	length time.Duration
}{{"w", 7 * Day}, {"d", Day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// Parse reads a whole positive number and a unit: 30s, 15m, 12h, 90d, 2w.
func Parse(text string) (time.Duration, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || digits[0] == '+' {
			break
		}
		if n > int64(Max/u.length) {
			return 0, fmt.Errorf("duration %s is longer than 200 years", text)
		}
		return time.Duration(n) * u.length, nil
	}
	return 0, fmt.Errorf("%q is not a duration", text)
}

// Format writes d in the largest unit up to days that divides it.
func Format(d time.Duration) string {
	for _, u := range units {
		if u.suffix != "w" && d >= u.length && d%u.length == 0 {
			return strconv.FormatInt(int64(d/u.length), 10) + u.suffix
		}
	}
	return d.String()
}

// Shorter reports whether a is the shorter life.
func Shorter(a, b time.Duration) bool { return a != 0 && (b == 0 || a < b) }

// Outliving is how long totals must live that count items which live so long.
func Outliving(items time.Duration) time.Duration {
	if items == 0 {
		return 0
	}
	return items + 7*Day
}
