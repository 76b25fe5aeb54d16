package lanes

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

const (
	week = 7 * 24 * time.Hour
	// monday is 1970-01-05, the first Monday of unix time, in seconds.
	monday = 4 * 24 * 60 * 60
)

// WindowStart returns the start of the window that holds at, in epoch seconds, or NoWindow. Windows
// align to 1970-01-01T00:00Z. Whole weeks align to Monday 1970-01-05. Months and years of the
// calendar begin on their first day.
func WindowStart(d *aggregate.Definition, at time.Time) int64 {
	if d.Window == 0 {
		return aggregate.NoWindow
	}
	if d.Months > 0 {
		return monthsStart(at.UTC(), d.Months)
	}
	length := int64(d.Window / time.Second)
	var origin int64
	if d.Window%week == 0 {
		origin = monday
	}
	since := at.Unix() - origin
	start := since - since%length
	if since%length < 0 {
		start -= length
	}
	return start + origin
}

// monthsStart returns the start of the month or year that holds at. The number of months divides a
// year.
func monthsStart(at time.Time, months int) int64 {
	m := int(at.Month()) - 1
	return time.Date(at.Year(), time.Month(m-m%months+1), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// windowEnd returns the end of the window that begins at start, in epoch seconds. There must be
// windows.
func windowEnd(d *aggregate.Definition, start int64) int64 {
	if d.Months > 0 {
		return time.Unix(start, 0).UTC().AddDate(0, d.Months, 0).Unix()
	}
	return start + int64(d.Window/time.Second)
}

// WindowLength returns how long the windows are, for people.
func WindowLength(d *aggregate.Definition) string {
	switch d.Months {
	case 0:
		return d.Window.String()
	case 1:
		return "a month"
	}
	return "a year"
}

// WindowText returns the sort key of an aggregate item: the window's start as 2018-02-01T00:00:00Z,
// or "-".
func WindowText(start int64) string {
	if start == aggregate.NoWindow {
		return "-"
	}
	return time.Unix(start, 0).UTC().Format("2006-01-02T15:04:05Z")
}

// ParseWindow reads what [WindowText] writes, and nothing else. A window with two spellings would
// be two totals.
func ParseWindow(text string) (int64, error) {
	if text == "-" {
		return aggregate.NoWindow, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05Z", text)
	if err == nil && WindowText(at.Unix()) != text {
		err = fmt.Errorf("window %q: write it as %s", text, WindowText(at.Unix()))
	}
	return at.Unix(), err
}

// Expiry returns when the aggregate item of a window expires, in epoch seconds, or 0 for never. It
// is a pure function of the key. So if a late subtraction recreates an item that was swept, the new
// item has expired already.
func Expiry(d *aggregate.Definition, start int64) int64 {
	if d.Retain == 0 || start == aggregate.NoWindow {
		return 0
	}
	// The sum is in seconds, because together they can be longer than a time.Duration's 292 years.
	return windowEnd(d, start) + int64(d.Retain/time.Second)
}

// Unclosed reports whether events that expire when they should do not close the totals of a new
// generation. shortest is the shortest time that an event of it may live; 0 means for ever. If that
// is at least a week longer than the window, all events of a window are still there a week after
// its end. Until then its totals can be compared with them, and after that nothing writes to them.
func Unclosed(d *aggregate.Definition, shortest time.Duration) bool {
	return d.OnExpire == aggregate.Keep && d.Window > 0 && (shortest == 0 || shortest >= d.Window+week)
}

// Uncovered reports whether an event of a window may have expired an hour after at, in epoch
// seconds. shortest is the shortest time that an event of the window may live. From then on, a
// total of such a generation cannot be compared with its events. An event that expires earlier,
// because somebody has changed its item, closes its totals all the same.
func Uncovered(start int64, shortest time.Duration, at int64) bool {
	return shortest != 0 && at >= start+int64((shortest-time.Hour)/time.Second)
}
