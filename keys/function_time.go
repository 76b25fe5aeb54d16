package keys

import "strconv"

// formatAs returns the function that writes an RFC 3339 time in UTC, down to the last part that
// example shows. Every such text is the beginning of the text of FormatTime.
func formatAs(example string) func([]byte, int, int, *Source) ([]byte, error) {
	return func(dst []byte, from, _ int, _ *Source) ([]byte, error) {
		t, err := parseTime(dst[from:])
		if err != nil {
			return dst, err
		}
		return AppendTime(dst[:from], t)[:from+len(example)], nil
	}
}

func unixSeconds(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	t, err := parseTime(dst[from:])
	if err != nil {
		return dst, err
	}
	return strconv.AppendInt(dst[:from], t.Unix(), 10), nil
}

func unixMillis(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	t, err := parseTime(dst[from:])
	if err != nil {
		return dst, err
	}
	return strconv.AppendInt(dst[:from], t.UnixMilli(), 10), nil
}

// unixNanos splits the time, because the nanoseconds of the year 9999 do not fit into an int64.
func unixNanos(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	t, err := parseTime(dst[from:])
	switch {
	case err != nil:
		return dst, err
	case t.Unix() == 0:
		return strconv.AppendInt(dst[:from], int64(t.Nanosecond()), 10), nil
	}
	return appendDigits(strconv.AppendInt(dst[:from], t.Unix(), 10), t.Nanosecond(), 9), nil
}
