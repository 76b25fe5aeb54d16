package question

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/keys"
)

// functionOf returns the function of a slot of times.
func functionOf(unit string) keys.Function { return keys.Func{Name: unit}.Function() }

// length orders periods: a finer one is shorter.
func length(unit string) time.Duration {
	p := functionOf(unit).Period
	return time.Duration(p.Months)*30*24*time.Hour + p.Length
}

// parsePeriod reads a time, or the beginning of one such as 2026-03-01. unit is "time" for a whole
// time, and otherwise the last part that the text has, such as "day".
func parsePeriod(text string) (start time.Time, unit string, err error) {
	for _, f := range keys.Functions() {
		if f.Lossy && len(text) == len(f.Time) {
			if at, err := time.Parse(f.Time, text); err == nil && at.Year() >= 1970 {
				return at, f.Name, nil
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
	p := functionOf(unit).Period
	if at = at.UTC(); p.Months == 0 {
		return at.Truncate(p.Length)
	}
	return time.Date(0, time.Month(months(at)/p.Months*p.Months+1), 1, 0, 0, 0, 0, time.UTC)
}

// months counts the months since the year 0.
func months(at time.Time) int { return at.Year()*12 + int(at.Month()) - 1 }

// following returns the beginning of the next period after the one that begins at start.
func following(start time.Time, unit string) time.Time {
	p := functionOf(unit).Period
	return start.AddDate(0, p.Months, 0).Add(p.Length)
}

// countPeriods returns how many periods have a part in [from, to).
func countPeriods(from, to time.Time, unit string) int {
	p := functionOf(unit).Period
	from, last := floor(from, unit), floor(to.Add(-1), unit)
	if p.Months > 0 {
		return (months(last)-months(from))/p.Months + 1
	}
	// The difference is computed in seconds, because a Duration may be too short for it.
	return int((last.Unix()-from.Unix())/int64(p.Length/time.Second)) + 1
}

// exampleOf shows a value of a parameter with this unit.
func exampleOf(unit string) string {
	return exampleAt(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), unit)
}

// exampleAt shows the period that at is in.
func exampleAt(at time.Time, unit string) string {
	if f := functionOf(unit); f.Lossy && f.Time != "" {
		return at.UTC().Format(f.Time)
	}
	return floor(at, unit).Format(time.RFC3339Nano)
}
