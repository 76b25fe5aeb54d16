package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Function describes one function of the template language, for documents, completion and checks.
type Function struct {
	Name string
	Arg  string // its argument: a number N, a LABEL or a SEP. What has a ? may be left out. Empty: it takes none
	Does string
	// Lossy reports whether different inputs can give the same result.
	Lossy bool
	// LossyWith reports the same of the function with its argument.
	LossyWith bool
	// Follows lists the functions that may come before this one in a variable. The value itself may
	// always come before it. nil means any function.
	Follows []string
	// Hash reports whether it makes hex digits that say nothing about the value.
	Hash bool
	// Keyed reports whether it needs the secret. With an argument, its key is derived from that.
	Keyed bool
	// Reverses reports whether it turns the order of its values around.
	Reverses bool
	// Spreads reports whether it makes as many values as its argument says, to spread writes.
	Spreads bool
	// Time is how it writes a time, as in package time: "2006-01-02". It is empty if it does not.
	Time string
	// Reads is how a time is written that it reads beside RFC 3339, as in package time. It writes
	// the time as [FormatTime] does. It is empty if it reads no time of another form.
	Reads string
	// Folds reports whether an id may lose what it loses: the digest then loses it too, so that all
	// spellings are one event.
	Folds bool
	// Number reports whether it makes a number of periods since 1970. In `at`, it reads one. Their
	// text is in the order of the times only after a function that pads.
	Number bool
	// Period is what begins at the times that it makes, if it makes times.
	Period Period
	// Pads reports whether it makes numbers of one length.
	Pads bool
	// Ordered reports whether a range of values can be read as a range of results.
	Ordered bool
	// Prefixes reports whether values with the same beginning have results with the same beginning.
	Prefixes bool

	least, most int    // the range of its argument
	divides     string // its separator without a SEP
	digits      int    // of a hash without an argument
	keeps       keep   // what its result has of the text before it
	run         runs
	// parse reads a time of the form of Reads.
	parse func(text []byte) (time.Time, error)
	// with returns run for a LABEL or a SEP, which is empty if it is left out. It is nil if the
	// function takes neither.
	with func(text string) runs
	// shape returns what it makes with the argument n, in words, if text cannot be its result, and
	// otherwise "". text is not empty. nil says nothing about the result.
	shape func(text string, n int) string
}

// runs replaces the text dst[from:] by what a function makes of it. n is the function's number.
type runs func(dst []byte, from, n int, s *Source) ([]byte, error)

// Period is a period of time: so many months, or one of a fixed length.
type Period struct {
	Name   string
	Months int
	Length time.Duration
}

// IsTime reports whether the function makes a time from a time.
func (f Function) IsTime() bool { return f.Period.Name != "" }

// AssumesUTC reports whether it reads a time that names no offset, as one in UTC.
func (f Function) AssumesUTC() bool { return f.Reads != "" && !strings.Contains(f.Reads, "0700") }

// TakesNumber reports whether the function takes a number and nothing else.
func (f Function) TakesNumber() bool { return f.Pads || f.keeps == keepsNumber }

// keep is what the result of a function has of the text before it.
type keep uint8

const (
	keepsNothing   keep = iota // a hash, a time or a number says all about its characters
	keepsEnds                  // a part of it, in which nothing is cut off but white space
	keepsPart                  // a part of it
	keepsBeginning             // its first characters
	keepsOtherCase             // it, in another case
	keepsNumber                // the number that it is
	keepsSense                 // what it says, which may have any characters
)

// Function returns the function that is applied.
func (f Func) Function() Function {
	function, _ := lookup(f.Name)
	return function
}

// step is one function of a variable, ready to run.
type step struct {
	written string // "pad:8"
	arg     int
	do      runs
}

// maxLabel is the largest number of bytes in the label of hmac.
const maxLabel = 64

// isLabel reports whether text may be the label of hmac: letters, digits, '_' and '-'.
func isLabel(text string) bool {
	return text != "" && len(text) <= maxLabel &&
		strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func (f *step) run(dst []byte, from int, s *Source) ([]byte, error) { return f.do(dst, from, f.arg, s) }

// Functions returns the functions of the template language. Each makes text from the text before
// it.
//
// "Lossless" refers to the meaning of the text. time makes one text of all spellings of one
// instant, as a number has one normal form for all its spellings.
func Functions() []Function {
	return []Function{
		timely("time", Period{"time", 0, time.Nanosecond}, "2006-01-02T15:04:05.000000000Z", "an RFC 3339 time as 2006-01-02T15:04:05.000000000Z: text order is time order"),
		timely("minute", Period{"minute", 0, time.Minute}, "2006-01-02T15:04", "the UTC minute of an RFC 3339 time: 2006-01-02T15:04"),
		timely("hour", Period{"hour", 0, time.Hour}, "2006-01-02T15", "its UTC hour: 2006-01-02T15"),
		timely("day", Period{"day", 0, 24 * time.Hour}, "2006-01-02", "its UTC day: 2006-01-02"),
		timely("month", Period{"month", 1, 0}, "2006-01", "its UTC month: 2006-01"),
		timely("year", Period{"year", 12, 0}, "2006", "its UTC year: 2006"),
		{Name: "unix", Does: "an RFC 3339 time as whole seconds since 1970; in `at`, reads such a number", Lossy: true,
			Follows: numberText, Ordered: true, Number: true, Period: Period{"second", 0, time.Second}, run: unixSeconds, shape: ofDigits},
		{Name: "unixms", Does: "an RFC 3339 time as whole milliseconds since 1970; in `at`, reads such a number", Lossy: true,
			Follows: numberText, Ordered: true, Number: true, Period: Period{"millisecond", 0, time.Millisecond}, run: unixMillis,
			shape: ofDigits},
		{Name: "unixns", Does: "an RFC 3339 time as nanoseconds since 1970; in `at`, reads such a number", Follows: numberText,
			Ordered: true, Number: true, Period: Period{"nanosecond", 0, time.Nanosecond}, run: unixNanos, shape: ofDigits},
		reading("utc", "2006-01-02T15:04:05.999999999", "a time that may have no offset from UTC, as `time` writes it",
			func(text []byte) (time.Time, error) { return parse(text, true) }),
		reading("rfc2822", time.RFC1123Z, "a time as in mail and RSS, as `time` writes it: "+time.RFC1123Z, parseMailTime),
		{Name: "number", Does: "the normal form of a number that may be in quotes: 12.50 becomes 12.5", Follows: spaces, Folds: true,
			keeps: keepsNumber, run: number, shape: ofNumber},
		{Name: "pad", Arg: "N", Does: "a non-negative integer, zeros put before it up to N digits: text order is number order",
			Follows: append([]string{"unix", "unixms", "unixns", "shard", "number"}, spaces...), Ordered: true, Pads: true,
			least: 1, most: 38, run: pad, shape: ofNDigits},
		{Name: "rev", Does: "each digit d of a time or padded number becomes 9-d: the order turns around",
			Follows: []string{"time", "utc", "rfc2822", "pad"},
			Ordered: true, Reverses: true, run: rev},
		{Name: "shard", Arg: "N", Does: "one of 0 to N-1: the first 8 bytes of the SHA-256, big-endian, mod N", Lossy: true, Ordered: true,
			Spreads: true, least: 1, most: 10_000, run: shard, shape: below},
		{Name: "hmac", Arg: "LABEL?", Does: "HMAC-SHA-256 in lower-case hex, keyed with the secret of the environment, or with a key of " +
			"LABEL's own that is derived from it: for personal data in keys", Hash: true, Keyed: true, digits: 64,
			with: labelledHash, shape: ofHex(64)},
		{Name: "sha256", Arg: "N?", Does: "SHA-256 in lower-case hex; with N only its first N digits, which is lossy", Hash: true, LossyWith: true,
			digits: 64, least: 1, most: 63, run: hash, shape: ofHex(64)},
		{Name: "first", Arg: "N", Does: "the first N code points", Lossy: true, Prefixes: true, least: 1, most: 1024, keeps: keepsBeginning,
			run: first, shape: atMost},
		{Name: "split", Arg: "N:SEP?", Does: "piece N, from 1, of a text that # or SEP divides, as keys of tables with several kinds " +
			"of item are", Lossy: true, least: 1, most: 100, divides: "#", keeps: keepsPart, with: splitAt},
		{Name: "parent", Arg: "SEP?", Does: "what comes before the last / of a path, or before the last SEP: /a/b of /a/b/c",
			Lossy: true, divides: "/", keeps: keepsPart, with: parentAt},
		{Name: "trim", Does: "without ASCII white space at either end", Lossy: true, Folds: true, Ordered: true, Prefixes: true,
			keeps: keepsEnds, run: trim, shape: unspaced},
		{Name: "strip", Does: "without Unicode white space at either end", Lossy: true, Folds: true, Ordered: true, Prefixes: true,
			keeps: keepsEnds, run: strip, shape: stripped},
		{Name: "urldecode", Does: "without URL encoding: + is a space, and %41 is A", Lossy: true, Folds: true, keeps: keepsSense,
			run: urlDecode},
		{Name: "lower", Does: "A to Z as a to z, nothing else", Lossy: true, Folds: true, Ordered: true, Prefixes: true,
			keeps: keepsOtherCase, run: lower, shape: without("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "in lower case")},
		{Name: "upper", Does: "a to z as A to Z, nothing else", Lossy: true, Ordered: true, Prefixes: true, keeps: keepsOtherCase,
			run: upper, shape: without("abcdefghijklmnopqrstuvwxyz", "in upper case")},
	}
}

// spaces are the functions that take white space away.
var spaces = []string{"trim", "strip"}

// timeText are those after which a time is read. In `at`, number may come before unix.
var (
	timeText   = append([]string{"time", "utc", "rfc2822"}, spaces...)
	numberText = append([]string{"number"}, timeText...)
)

// reading is a function that reads a time of another form.
func reading(name, form, does string, parse func([]byte) (time.Time, error)) Function {
	f := timely(name, Period{"time", 0, time.Nanosecond}, "2006-01-02T15:04:05.000000000Z", does)
	f.Reads, f.Folds, f.Follows, f.parse = form, true, spaces, parse
	f.run = func(dst []byte, from, _ int, _ *Source) ([]byte, error) {
		t, err := parse(dst[from:])
		if err != nil {
			return dst, err
		}
		return AppendTime(dst[:from], t), nil
	}
	return f
}

// timely is a function that writes a time. Only one that writes all of it loses nothing.
func timely(name string, period Period, layout, does string) Function {
	return Function{Name: name, Does: does, Lossy: period.Length != time.Nanosecond, Follows: timeText, Time: layout, Period: period,
		Ordered: true, Prefixes: true, run: formatAs(layout), shape: timeLike(layout)}
}

// functions is what [Functions] returns, made once: a pipeline looks up dozens of names.
var functions = sync.OnceValue(Functions)

func lookup(name string) (Function, bool) {
	all := functions()
	i := slices.IndexFunc(all, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return all[i], true
}

// addFunc reads call, a function with its argument, and appends it to what p applies.
func (p *Part) addFunc(call string, offset int) error {
	name, arg, hasArg := strings.Cut(call, ":")
	name, arg = strings.TrimSpace(name), strings.TrimSpace(arg)
	f, known := lookup(name)
	if !known {
		instead := "one of " + functionNames()
		if small := strings.ToLower(name); small != name {
			if _, known := lookup(small); known {
				instead = small
			}
		}
		return &TemplateError{Offset: offset, What: quote(name) + " is not a function", Instead: instead}
	}
	if n := len(p.Funcs); n > 0 && f.Follows != nil && !slices.Contains(f.Follows, p.Funcs[n-1].Name) {
		return &TemplateError{
			Offset: offset, What: fmt.Sprintf("%s cannot follow %s", name, p.Funcs[n-1].Name),
			Instead: fmt.Sprintf("it after the value itself or after %s", strings.Join(f.Follows, ", ")),
		}
	}
	if f.Reverses && len(p.Funcs) == 0 {
		return &TemplateError{Offset: offset, What: name + " needs a fixed width to turn the order around",
			Instead: "time | " + name + ", or pad:N | " + name}
	}
	n, text, what := f.argument(arg, hasArg)
	if what != "" {
		return &TemplateError{Offset: offset, What: what, Instead: f.nearest(arg)}
	}
	p.Funcs = append(p.Funcs, Func{Name: name, Arg: arg})
	p.Lossy = p.Lossy || f.Lossy || f.LossyWith && hasArg
	do := f.run
	if f.with != nil {
		do = f.with(text)
	}
	p.apply = append(p.apply, step{written: call, arg: n, do: do})
	return nil
}

// argument reads the argument of f: a number, a text or both. If it cannot, what says why.
func (f *Function) argument(arg string, hasArg bool) (n int, text, what string) {
	switch {
	case f.Arg == "" && hasArg:
		return 0, "", f.Name + " takes no argument"
	case f.least > 0 && f.Arg != "N?" && !hasArg:
		return 0, "", f.Name + " needs an argument"
	case !hasArg:
		return 0, "", ""
	case f.Arg == "LABEL?":
		if !isLabel(arg) {
			what = fmt.Sprintf("%s is not a label of %s, which has 1 to %d letters, digits, '_' or '-'", quote(arg), f.Name, maxLabel)
		}
		return 0, arg, what
	case f.Arg == "SEP?":
		return 0, arg, f.separates(arg)
	}
	number, text, hasText := strings.Cut(arg, ":")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || n < f.least || n > f.most || strconv.Itoa(n) != number || hasText && f.divides == "":
		what = fmt.Sprintf("%s takes a whole number from %d to %d, not %s", f.Name, f.least, f.most, quote(arg))
	case hasText:
		what = f.separates(text)
	}
	return n, text, what
}

// separates says why text cannot be the separator of f. Letters and digits cannot: parent:2 would
// not be the parent of the parent.
func (f *Function) separates(text string) (what string) {
	switch {
	case text == f.divides:
		return f.Name + " divides at " + text + " by itself"
	case len(text) != 1 || !strings.Contains(separators, text):
		return fmt.Sprintf("%s divides at one of %s, not at %s", f.Name, separators, quote(text))
	}
	return ""
}

// separators are the ASCII characters that may divide a text: no letters, no digits, and nothing
// that means something in a template.
const separators = "!#$%&'()*+,-./:;<=>?@[\\]^_`~"

// nearest returns the correct call that is closest to one with this argument.
func (f *Function) nearest(arg string) string {
	number, text, _ := strings.Cut(arg, ":")
	n, err := strconv.Atoi(number)
	switch {
	case f.Arg == "SEP?" && arg == f.divides:
		return f.Name
	case err != nil || f.most == 0:
		return f.example()
	case f.Arg == "N?" && (n < f.least || n > f.most):
		return f.Name
	}
	call := fmt.Sprintf("%s:%d", f.Name, min(max(n, f.least), f.most))
	if f.divides != "" && text != "" && f.separates(text) == "" {
		call += ":" + text
	}
	return call
}

// example returns a correct call.
func (f *Function) example() string {
	switch f.Arg {
	case "":
		return f.Name
	case "LABEL?":
		return f.Name + ":email"
	case "SEP?":
		return f.Name + ":."
	}
	return f.Name + ":8"
}

func functionNames() string {
	var names []string
	for _, f := range functions() {
		switch {
		case f.least > 0 && f.Arg != "N?":
			f.Name += ":8"
		case f.Reverses:
			f.Name = "time | " + f.Name
		}
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
