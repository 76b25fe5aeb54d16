package keys

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/event"
)

// CheckTime returns an error if [Template.Time] cannot read the template. It must be one variable
// and nothing else, piped into nothing but functions that trim or read a number, and then one that
// reads a time. The error is a *[TemplateError].
func (t *Template) CheckTime() error {
	if len(t.parts) != 1 || !t.parts[0].IsVariable() {
		return &TemplateError{What: "a time is one value", Instead: t.oneTime()}
	}
	part := &t.parts[0]
	for i, f := range part.Funcs {
		last := i == len(part.Funcs)-1
		if of := f.Function(); of.keeps != keepsEnds && !(last && (of.Number || of.Reads != "")) && (last || of.keeps != keepsNumber) {
			return &TemplateError{Offset: part.Offset, What: f.Name + " is not a way to read a time",
				Instead: "utc, rfc2822, unix, unixms, unixns or nothing"}
		}
	}
	return nil
}

// oneTime says what to write for a template that is more than a variable, or less.
func (t *Template) oneTime() string {
	var names []string
	for _, p := range t.parts {
		if p.IsVariable() {
			names = append(names, p.Variable())
		}
	}
	if literal := t.parts[0].Literal; len(t.parts) == 1 {
		if _, err := ParseTemplate("{" + literal + "}"); err == nil {
			names = append(names, literal) // its braces are missing
		}
	}
	if len(names) != 1 {
		return `one field that has the whole time, such as "{placed_at}"`
	}
	return fmt.Sprintf(`"{%[1]s}", "{%[1]s | unix}" or "{%[1]s | unixms}"`, names[0])
}

// Time reads the template's one variable as a time. The value is RFC 3339 text, or what utc or
// rfc2822 reads. With unix, unixms or unixns it is a number, or the text of a number, of seconds,
// milliseconds or nanoseconds since 1970, exact to the nanosecond. The result is in UTC, in the
// years 1970 to 9999. The errors are those of [Template.Append]. A time that cannot be read is
// Poison.
func (t *Template) Time(s *Source) (time.Time, error) {
	if err := t.CheckTime(); err != nil {
		return time.Time{}, event.Poisoned(event.BadTime, err.Error())
	}
	part := &t.parts[0]
	if part.Derived == "@at" && len(part.Funcs) == 0 && s.HasAt {
		return s.At.UTC(), nil
	}
	reader, unit := *part, int64(0)
	if n := len(part.Funcs); n > 0 {
		if last := part.Funcs[n-1].Function(); last.Number {
			reader.apply, unit = part.apply[:n-1], int64(last.Period.Length)
		}
	}
	var room [64]byte
	text, err := reader.fill(room[:0], 0, s)
	if err != nil {
		return time.Time{}, err
	}
	if unit != 0 {
		return part.unixTime(string(text), unit)
	}
	at, err := parseTime(text)
	if err == nil {
		return at, nil
	}
	if number, bad := event.ParseDecimal(string(text)); bad == nil {
		if unit := unitOf(number); unit != "" {
			err = &timeError{quote(text) + " is a number, probably of " + unit, string(text)}
		}
	}
	return time.Time{}, event.Poisoned(event.BadTime, part.name+": "+err.Error()+part.advice(err, len(part.apply)))
}

// unixTime reads text as a number of units since 1970.
func (p *Part) unixTime(text string, unit int64) (time.Time, error) {
	bad := func(what string) (time.Time, error) {
		return time.Time{}, event.Poisoned(event.BadTime, fmt.Sprintf("%s: %s %s", p.name, quote(text), what))
	}
	number, err := event.ParseDecimal(text)
	if err != nil {
		name := p.Funcs[len(p.Funcs)-1].Name
		if _, err := parseTime(text); err == nil {
			return bad(fmt.Sprintf("is not a number but an RFC 3339 time: leave | %s out", name))
		}
		if reader := readerOf(text); reader != "" {
			return bad(fmt.Sprintf("is not a number: use %s in place of %s", reader, name))
		}
		return bad("is not a number")
	}
	nanoseconds := number.Shift(int64(len(strconv.FormatInt(unit, 10)) - 1))
	if number.Sign() < 0 || nanoseconds.Cmp(event.DecimalOf(unixEnd).Shift(9)) >= 0 {
		what := fmt.Sprintf("lies outside of the years %d to %d", firstYear, lastYear)
		switch probably, reader := unitOf(number), readerOf(text); {
		case number.Sign() < 0 || probably == "":
		case reader == "":
			what += ": these are " + probably + ", which no function reads"
		default:
			what += ": these are " + probably + ": use " + reader
		}
		return bad(what)
	}
	if !nanoseconds.IsInteger() {
		return bad("is finer than a nanosecond")
	}
	// In the year 9999, the nanoseconds since 1970 do not fit into an int64. So the digits are
	// split into seconds and the rest.
	digits := "0000000000" + nanoseconds.String()
	cut := len(digits) - 9
	seconds, _ := strconv.ParseInt(digits[:cut], 10, 64)
	rest, _ := strconv.ParseInt(digits[cut:], 10, 64)
	return time.Unix(seconds, rest).UTC(), nil
}

// unixEnd is the second at which the year 9999 is over.
const unixEnd = 253402300800
