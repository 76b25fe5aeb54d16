// Package lifetime knows how long things live. [Parse] and [Format] handle lifetimes as
// pipeline.yaml writes them, and [Shorter] compares two of them. A lifetime of 0 means for ever.
// [ParseWindow] and [FormatWindow] handle windows, which may also be months and years.
package lifetime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is 24 hours. Windows and lifetimes are in UTC.
const Day = 24 * time.Hour

// Least is the shortest lifetime of an event. It leaves most of it for what comes late.
const Least = time.Hour

// Max is the longest duration that may be declared. Max and some days more fit into time.Duration's
// 292 years. The sum of two such durations can be longer.
const Max = 200 * 365 * Day

// Month and Year are the windows of the calendar. They are not durations, because months and years
// are not equally long. No duration that may be declared is negative.
const (
	Month time.Duration = -1
	Year  time.Duration = -12
)

// ParseWindow reads the length of a window: what [Parse] reads, 1mo or 1y.
func ParseWindow(text string) (time.Duration, error) {
	switch text {
	case "1mo":
		return Month, nil
	case "1y":
		return Year, nil
	}
	return Parse(text)
}

// FormatWindow writes what [ParseWindow] reads.
func FormatWindow(d time.Duration) string {
	switch d {
	case Month:
		return "1mo"
	case Year:
		return "1y"
	}
	return Format(d)
}

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

// Shorter reports whether a is a shorter lifetime than b.
func Shorter(a, b time.Duration) bool { return a != 0 && (b == 0 || a < b) }

// Outliving returns how long totals must live that count items with this lifetime.
func Outliving(items time.Duration) time.Duration {
	if items == 0 {
		return 0
	}
	return items + 7*Day
}

// Was is a lifetime that was in force earlier, for events whose own time is before Before.
type Was struct {
	Retain time.Duration // 0: for ever
	Before time.Time
}

// At returns how long an event of time at is kept, if it is kept for today now: the shortest of
// today and the earlier ones that were in force at its time. 0 means for ever.
func At(today time.Duration, was []Was, at time.Time) time.Duration {
	shortest := today
	for _, w := range was {
		if at.Before(w.Before) && Shorter(w.Retain, shortest) {
			shortest = w.Retain
		}
	}
	return shortest
}
