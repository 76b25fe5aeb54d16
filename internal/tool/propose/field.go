package propose

import (
	"cmp"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// field is what the events of one type have at one path.
type field struct {
	path  string // as pipeline.yaml writes it
	order int    // position among the fields, by first appearance
	depth int    // 1: a member of the payload itself

	present int // events that have it; null does not count
	texts   int
	numbers int
	wholes  int // numbers without decimals, not negative
	others  int // booleans, arrays, objects
	times   int // RFC 3339 text
	dates   int // text that begins with a date and is not RFC 3339, such as 2026-03-01 09:00
	seconds int // numbers that are seconds since 1970 in the years 2000 to 2100
	millis  int // the same in milliseconds
	sums    int // numbers that can be summed
	mails   int
	quoted  int // text that is a number, such as "12.50"
	longest int

	values map[uint64]int // hashes of the values, with how often each is there
}

const (
	maxDepth  = 3
	maxFields = 300
)

// plainPath matches a path that can be written in a template without brackets.
var plainPath = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

var mail = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)

var date = regexp.MustCompile(`^(\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4})([ T,]|$)`)

var hashSeed = maphash.MakeSeed()

func hashOf(n event.Node) uint64 { return maphash.String(hashSeed, n.Text()) }

// profile lists the fields of a type's events, in the order in which they first appear.
func profile(events []sampled) []*field {
	byPath := map[string]*field{}
	for i := range events {
		collect(byPath, "", 1, events[i].opened.Data.Root())
	}
	fields := make([]*field, 0, len(byPath))
	for _, f := range byPath {
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b *field) int { return cmp.Compare(a.order, b.order) })
	return fields
}

func collect(byPath map[string]*field, above string, depth int, object event.Node) {
	for name, value := range object.Members() {
		path := above + name
		if !plainPath.MatchString(path) {
			continue
		}
		if value.Kind() == event.Object {
			if depth < maxDepth {
				collect(byPath, path+".", depth+1, value)
			}
			continue
		}
		f := byPath[path]
		if f == nil {
			if len(byPath) == maxFields {
				continue
			}
			f = &field{path: path, order: len(byPath), depth: depth, values: map[uint64]int{}}
			byPath[path] = f
		}
		f.see(value)
	}
}

// see records the value of one event.
func (f *field) see(value event.Node) {
	switch value.Kind() {
	case event.Null, event.Absent:
		return
	case event.String:
		if value.Text() == "" {
			return // an empty text counts as missing, as in a template
		}
		f.texts++
		f.seeText(value.Text())
	case event.Number:
		f.numbers++
		f.seeNumber(value)
	default:
		f.others++
	}
	f.present++
	f.longest = max(f.longest, len(value.Text()))
	f.values[hashOf(value)]++
}

func (f *field) seeText(text string) {
	if _, err := keys.ParseTime(text); err == nil {
		f.times++
	} else if date.MatchString(text) {
		f.dates++
	}
	if mail.MatchString(text) {
		f.mails++
	}
	if _, err := event.ParseDecimal(text); err == nil {
		f.quoted++
	}
}

// These are the first seconds of the years 2000 and 2100.
const (
	year2000 = 946_684_800
	year2100 = 4_102_444_800
)

func (f *field) seeNumber(value event.Node) {
	d, err := value.Decimal()
	if err != nil {
		return
	}
	if d.Summable() {
		f.sums++
	}
	if d.IsInteger() && d.Sign() >= 0 {
		f.wholes++
	}
	// A time may have decimals, down to the nanosecond.
	within := func(unit, decimals int64) bool {
		return d.Cmp(event.DecimalOf(year2000*unit)) >= 0 && d.Cmp(event.DecimalOf(year2100*unit)) < 0 && d.Shift(decimals).IsInteger()
	}
	if within(1, 9) {
		f.seconds++
	}
	if within(1000, 6) {
		f.millis++
	}
}

// always reports whether every one of n events has the field.
func (f *field) always(n int) bool { return f.present == n }

// unique reports whether no two of n events have the same value.
func (f *field) unique(n int) bool { return f.always(n) && len(f.values) == n }

// scalar reports whether all values are text or whole numbers, so that they can be a part of a key.
func (f *field) scalar() bool { return f.others == 0 && f.numbers == f.wholes && f.longest <= 256 }

// personal reports whether the field looks like an e-mail address or says that it is personal.
func (f *field) personal() bool {
	name := strings.ToLower(f.last())
	return f.mails > 0 ||
		slices.ContainsFunc([]string{"email", "e_mail", "phone", "mobile", "ssn", "iban", "passport"}, func(word string) bool {
			return strings.Contains(name, word)
		})
}

// last returns the last name of the path.
func (f *field) last() string { return f.path[strings.LastIndexByte(f.path, '.')+1:] }

// words returns the words of the last name in lower case: merchantId, merchant_id and MerchantID
// are all merchant and id.
func (f *field) words() []string { return words(f.last()) }

func words(name string) []string {
	var list []string
	start := 0
	cut := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == ':':
			cut(i)
			start = i + 1
		case i > start && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])): // EC2Id: ec2, id
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return list
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
