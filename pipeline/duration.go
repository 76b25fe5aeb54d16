package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var durationUnits = []struct {
	suffix string
	length time.Duration
}{{"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// parseDuration reads a whole positive number and a unit: 30s, 15m, 12h, 90d, 2w.
func parseDuration(text string) (time.Duration, error) {
	for _, u := range durationUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n <= 0 || digits[0] == '+' {
			break
		}
		if n > int64(maxDuration/u.length) {
			return 0, fmt.Errorf("duration %s is longer than 200 years", text)
		}
		return time.Duration(n) * u.length, nil
	}
	return 0, fmt.Errorf("%q is not a duration", text)
}

// maxDuration keeps a declared duration, and one with some days more, inside time.Duration's 292 years; two of them
// can be longer.
const maxDuration = 200 * 365 * day

// bounded holds durations that are declared in Go to what those of a file are held to.
func (c *compiler) bounded(at place, d time.Duration) {
	if d > maxDuration {
		c.mistake(at, "a duration of "+formatDuration(d)+" is longer than 200 years", "at most "+formatDuration(maxDuration))
	}
}

// formatDuration writes d in the largest unit that divides it.
func formatDuration(d time.Duration) string {
	for _, u := range durationUnits {
		if u.suffix != "w" && d >= u.length && d%u.length == 0 {
			return strconv.FormatInt(int64(d/u.length), 10) + u.suffix
		}
	}
	return d.String()
}
