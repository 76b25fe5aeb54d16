package keys

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

// readerOf returns the function that would read a text that is no RFC 3339 time. It is empty if
// none would.
func readerOf(text string) string {
	unit := ""
	if number, err := event.ParseDecimal(text); err == nil {
		unit = unitOf(number)
	}
	for _, f := range functions() {
		if f.Number && f.Period.Name+"s" == unit {
			return f.Name
		}
		if f.parse == nil {
			continue
		}
		if _, err := f.parse([]byte(text)); err == nil {
			return f.Name
		}
	}
	return ""
}

// unitOf returns what a number since 1970 probably counts. It is empty for a number that is too
// great.
func unitOf(number event.Decimal) string {
	for i, unit := range []string{"seconds", "milliseconds", "microseconds", "nanoseconds"} {
		if digits := int64(11 + 3*i); number.Cmp(event.DecimalOf(1).Shift(digits)) < 0 { // a greater number has more
			return unit
		}
	}
	return ""
}

// zones are the offsets of the zones that RFC 2822 (4.3) names, and of UTC.
var zones = map[string]string{"UT": "+0000", "GMT": "+0000", "UTC": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600",
	"CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700"}

// parseMailTime reads a time as mail (RFC 2822) and RSS have it: Mon, 02 Jan 2006 15:04:05 -0700.
// The weekday and the seconds may be missing, the zone may be GMT, UT or UTC, and a comment in
// parentheses may follow.
func parseMailTime(text []byte) (time.Time, error) {
	bad := func(part string) (time.Time, error) {
		return time.Time{}, &timeError{what: fmt.Sprintf(
			"%s is not a time like Mon, 02 Jan 2006 15:04:05 -0700: its %s is wrong or missing", quote(text), part)}
	}
	words := strings.Fields(string(text))
	weekday, said := "", false
	if len(words) > 0 {
		if weekday, said = strings.CutSuffix(words[0], ","); said {
			words = words[1:]
		}
	}
	if n := len(words) - 1; n > 4 && strings.HasPrefix(words[n], "(") && strings.HasSuffix(words[n], ")") {
		words = words[:n]
	}
	layouts := []string{"2", "Jan", "2006", "15:04:05", "-0700"}
	for i, part := range []string{"day", "month", "year", "time of day", "zone"} {
		if i >= len(words) {
			return bad(part)
		}
		if offset := zones[words[i]]; i == 4 && offset != "" {
			words[i] = offset
		}
		layout := layouts[i]
		if i == 3 && strings.Count(words[i], ":") == 1 {
			layout, layouts[i] = "15:04", "15:04"
		}
		if _, err := time.Parse(layout, words[i]); err != nil || len(words[i]) > len("15:04:05") {
			return bad(part)
		}
	}
	t, err := time.Parse(strings.Join(layouts, " "), strings.Join(words, " "))
	switch {
	case err != nil:
		return bad("day")
	case said && !strings.EqualFold(weekday, t.Format("Mon")):
		return bad("weekday")
	}
	return inYears(t.UTC(), text)
}

// inYears returns t if it is one of the times that Ingot stores.
func inYears[T string | []byte](t time.Time, text T) (time.Time, error) {
	if t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, fmt.Errorf("%s lies outside of the years %d to %d", quote(text), firstYear, lastYear)
	}
	return t, nil
}
