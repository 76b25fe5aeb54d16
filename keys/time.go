package keys

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// These are the first and the last year of a time that Ingot stores. Outside of them, text order
// would not be time order.
const (
	firstYear = 1970
	lastYear  = 9999
)

// FormatTime writes t as 2006-01-02T15:04:05.000000000Z, in UTC. The text always has 30 bytes, so
// text order is time order. t must be in the years 1970 to 9999, as the times of [ParseTime] and
// [Template.Time] are.
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends the text of [FormatTime] to dst. It writes the digits itself, because
// [time.Time.AppendFormat] takes more than twice as long, and every event needs several times
// written.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = appendDigits(dst, year, 4)
	dst = appendDigits(append(dst, '-'), int(month), 2)
	dst = appendDigits(append(dst, '-'), day, 2)
	dst = appendDigits(append(dst, 'T'), hour, 2)
	dst = appendDigits(append(dst, ':'), minute, 2)
	dst = appendDigits(append(dst, ':'), second, 2)
	dst = appendDigits(append(dst, '.'), t.Nanosecond(), 9)
	return append(dst, 'Z')
}

// appendDigits appends the last width digits of n, with zeros before them if n has fewer.
func appendDigits(dst []byte, n, width int) []byte {
	end := len(dst) + width
	dst = append(dst, "000000000"[:width]...)
	for i := end - 1; i >= end-width; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// ParseTime reads an RFC 3339 time, for example 2024-03-05T14:07:31.5+01:00, and returns it in UTC.
// T and Z may be lower-case, as the RFC allows. A space may stand for T and before the offset,
// +0100 or +01 for +01:00, as in ISO 8601, and UTC for Z. The error says which part is wrong: the
// year is outside of 1970 to 9999 (in UTC), a part is finer than a nanosecond, there is a leap
// second (which the clocks here do not have), or the offset from UTC is missing.
func ParseTime(s string) (time.Time, error) { return parseTime(s) }

func parseTime[T string | []byte](s T) (time.Time, error) { return parse(s, false) }

// timeError says which part of a text is wrong. The text is empty if no other function should read
// it.
type timeError struct{ what, text string }

func (e *timeError) Error() string { return e.what }

// parse reads a time. If naive is true, it may have no offset, and is then one of UTC.
func parse[T string | []byte](s T, naive bool) (time.Time, error) {
	p := timeParser[T]{s: s, naive: naive}
	year := p.number(0, 4, "year")
	month := p.number('-', 2, "month")
	day := p.number('-', 2, "day")
	if !p.next('T') && !p.next(' ') {
		p.fail("time of day")
	}
	hour := p.number(0, 2, "hour")
	minute := p.number(':', 2, "minute")
	second := p.number(':', 2, "second")
	nano := p.fraction()
	offset := p.offset()
	switch {
	case p.wrong == "" && p.at < len(s):
		p.fail("end")
	case p.wrong != "" || second == 60:
	case month < 1 || month > 12:
		p.fail("month")
	case day < 1 || day > daysIn(year, month):
		p.fail("day")
	case hour > 23:
		p.fail("hour")
	case minute > 59:
		p.fail("minute")
	case second > 59:
		p.fail("second")
	}
	switch {
	case p.wrong == noOffset:
		return time.Time{}, &timeError{quote(s) + " has " + noOffset, string(s)}
	case p.wrong != "":
		bad := &timeError{what: fmt.Sprintf("%s is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its %s is wrong or missing", quote(s),
			p.wrong)}
		if !naive {
			bad.text = string(s)
		}
		return time.Time{}, bad
	case second == 60:
		return time.Time{}, fmt.Errorf("%s is a leap second, which the clocks of computers do not have", quote(s))
	case p.fine:
		return time.Time{}, fmt.Errorf("%s is finer than a nanosecond", quote(s))
	}
	return inYears(time.Date(year, time.Month(month), day, hour, minute, second-offset, nano, time.UTC), s)
}

// quote shows the beginning of a producer's text.
func quote[T string | []byte](s T) string {
	return strconv.Quote(excerpt.Of(string(s), 60))
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// noOffset is what is wrong with a time that is right otherwise.
const noOffset = "no offset from UTC"

// timeParser reads from left to right, and remembers the first part that was wrong.
type timeParser[T string | []byte] struct {
	s           T
	at          int
	wrong       string
	fine, naive bool
}

func (p *timeParser[T]) fail(part string) {
	if p.wrong == "" {
		p.wrong = part
	}
}

// next takes one byte if it is c. A letter matches in upper and lower case.
func (p *timeParser[T]) next(c byte) bool {
	if p.at >= len(p.s) || p.s[p.at] != c && (c < 'A' || p.s[p.at] != c|0x20) {
		return false
	}
	p.at++
	return true
}

func (p *timeParser[T]) digit() (int, bool) {
	if p.at >= len(p.s) || p.s[p.at]-'0' > 9 {
		return 0, false
	}
	p.at++
	return int(p.s[p.at-1] - '0'), true
}

// number reads the separator if it is not 0, and then exactly this many digits.
func (p *timeParser[T]) number(separator byte, digits int, part string) int {
	if separator != 0 && !p.next(separator) {
		p.fail(part)
	}
	v := 0
	for range digits {
		d, ok := p.digit()
		if !ok {
			p.fail(part)
		}
		v = v*10 + d
	}
	return v
}

// fraction reads the decimals of the second, in nanoseconds.
func (p *timeParser[T]) fraction() int {
	if p.next(',') {
		p.fail("decimal point")
	}
	if !p.next('.') {
		return 0
	}
	nano, unit, count := 0, 100_000_000, 0
	for {
		d, ok := p.digit()
		if !ok {
			break
		}
		p.fine = p.fine || unit == 0 && d != 0
		nano, unit, count = nano+d*unit, unit/10, count+1
	}
	if count == 0 {
		p.fail("second")
	}
	return nano
}

// offset reads Z, UTC, ±hh:mm, ±hhmm or ±hh, in seconds east of UTC. A blank may stand before it.
func (p *timeParser[T]) offset() int {
	const part = "offset from UTC"
	sign := 1
	if p.at+1 < len(p.s) {
		p.next(' ')
	}
	switch {
	case p.next('U'):
		if !p.next('T') || !p.next('C') {
			p.fail(part)
		}
		return 0
	case p.next('Z'), p.naive && p.at == len(p.s):
		return 0
	case p.next('-'):
		sign = -1
	case p.at == len(p.s):
		p.fail(noOffset)
		return 0
	case !p.next('+'):
		p.fail(part)
		return 0
	}
	hours, minutes := p.number(0, 2, part), 0
	if p.next(':') || p.at < len(p.s) {
		minutes = p.number(0, 2, part)
	}
	if hours > 23 || minutes > 59 {
		p.fail(part)
	}
	return sign * (hours*3600 + minutes*60)
}
