package question

import (
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/keys"
)

// units are the functions of time, the coarsest first, with the form of what each makes.
var units = []struct{ name, form string }{
	{"year", "2006"}, {"month", "2006-01"}, {"day", "2006-01-02"}, {"hour", "2006-01-02T15"}, {"minute", "2006-01-02T15:04"},
	{"unix", ""}, {"unixms", ""}, {"time", ""},
}

// fineness orders the functions of time: a finer one has a greater number.
func fineness(unit string) int {
	for i, u := range units {
		if u.name == unit {
			return i
		}
	}
	return len(units)
}

// parsePeriod reads a time, or the beginning of one such as 2026-03-01. unit is "time" for a whole
// time, and otherwise the last part that the text has, such as "day".
func parsePeriod(text string) (start time.Time, unit string, err error) {
	for _, u := range units {
		if u.form != "" && len(text) == len(u.form) {
			if at, err := time.Parse(u.form, text); err == nil && at.Year() >= 1970 {
				return at, u.name, nil
			}
		}
	}
	at, err := keys.ParseTime(text)
	if err != nil {
		return at, "", fmt.Errorf("%w; the beginning of one, such as 2026-03-01, is enough", err)
	}
	return at, "time", nil
}

// parseInstant reads a time, or the beginning of a period.
func parseInstant(text string) (time.Time, error) {
	at, _, err := parsePeriod(text)
	return at, err
}

// floor returns the beginning of the period that at is in.
func floor(at time.Time, unit string) time.Time {
	at = at.UTC()
	switch unit {
	case "year":
		return time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case "month":
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return at.Truncate(lengthOf(unit))
}

// lengthOf returns how long a period is, for the units whose periods have one length.
func lengthOf(unit string) time.Duration {
	switch unit {
	case "day":
		return 24 * time.Hour
	case "hour":
		return time.Hour
	case "minute":
		return time.Minute
	case "unix":
		return time.Second
	case "unixms":
		return time.Millisecond
	}
	return time.Nanosecond
}

// following returns the beginning of the next period after the one that begins at start.
func following(start time.Time, unit string) time.Time {
	switch unit {
	case "year":
		return start.AddDate(1, 0, 0)
	case "month":
		return start.AddDate(0, 1, 0)
	}
	return start.Add(lengthOf(unit))
}

// countPeriods returns how many periods have a part in [from, to).
func countPeriods(from, to time.Time, unit string) int {
	from, last := floor(from, unit), floor(to.Add(-1), unit)
	switch unit {
	case "year":
		return last.Year() - from.Year() + 1
	case "month":
		return (last.Year()-from.Year())*12 + int(last.Month()) - int(from.Month()) + 1
	}
	// The difference is computed in seconds, because a Duration may be too short for it.
	return int((last.Unix()-from.Unix())/int64(lengthOf(unit)/time.Second)) + 1
}

// exampleOf shows a value of a parameter with this unit.
func exampleOf(unit string) string {
	return exampleAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), unit)
}

// exampleAt shows the period that at is in.
func exampleAt(at time.Time, unit string) string {
	i := slices.IndexFunc(units, func(u struct{ name, form string }) bool { return u.name == unit })
	if i >= 0 && units[i].form != "" {
		return at.UTC().Format(units[i].form)
	}
	return floor(at, unit).Format(time.RFC3339Nano)
}

// unitName returns the name of a period for people.
func unitName(unit string) string {
	switch unit {
	case "unix":
		return "second"
	case "unixms":
		return "millisecond"
	}
	return unit
}
