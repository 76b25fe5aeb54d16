package keys

import (
	"strconv"

	"github.com/ingot-events/ingot/event"
)

// formatAs returns the function that writes an RFC 3339 time in UTC, down to the last part that
// example shows. Every such text is the beginning of the text of FormatTime.
func formatAs(example string) func([]byte, int, int, *Source) ([]byte, error) {
	return func(dst []byte, from, _ int, _ *Source) ([]byte, error) {
		t, err := parseTime(dst[from:])
		if err != nil {
			return dst, badTime(err)
		}
		return AppendTime(dst[:from], t)[:from+len(example)], nil
	}
}

func unixSeconds(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	t, err := parseTime(dst[from:])
	if err != nil {
		return dst, badTime(err)
	}
	return strconv.AppendInt(dst[:from], t.Unix(), 10), nil
}

func unixMillis(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	t, err := parseTime(dst[from:])
	if err != nil {
		return dst, badTime(err)
	}
	return strconv.AppendInt(dst[:from], t.UnixMilli(), 10), nil
}

func badTime(err error) *event.Refusal { return event.Poisoned(event.BadTime, err.Error()) }
