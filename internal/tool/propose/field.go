package propose

import (
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// field is what the events of one type have at one path.
type field struct {
	path  string     // as pipeline.yaml writes it; a [] stands for each element of an array
	leaf  event.Path // the same; no path if it has []
	order int        // position among the fields, by first appearance
	depth int        // 1: a member of the payload itself

	present int // events that have it; null does not count
	texts   int
	numbers int
	wholes  int   // numbers without decimals, not negative
	others  int   // booleans, empty arrays and objects, elements of arrays
	reads   []int // times, by the way to read them
	dates   int   // text that begins with a date, and that no way reads
	sums    int   // numbers that can be summed
	mails   int
	quoted  int // text that is a number, such as "12.50"
	longest int
	fold    string // functions that take what differs in the spelling of one id

	in     []uint64       // the hash of the value in each event; 0: it is missing
	values map[uint64]int // how often each of them is there
}

const (
	maxDepth  = 16
	maxFields = 200
)

// odd matches a name that a template cannot show, even in brackets.
var odd = regexp.MustCompile(`[{}|"\\\x00-\x1f]`)

var mail = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)

var date = regexp.MustCompile(`^(\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4})([ T,]|$)`)

var hashSeed = maphash.MakeSeed()

// nothing is the hash of null and of empty text, which count as missing.
var nothing = maphash.String(hashSeed, "")

func hashOf(n event.Node) uint64 { return maphash.String(hashSeed, n.Text()) }

// profile lists the fields of a type's events, in the order in which they first appear.
func profile(events []sampled) []*field {
	p := profiler{byPath: map[string]*field{}, n: len(events)}
	for i := range events {
		p.i = i
		p.value("", 0, events[i].opened.Data.Root(), false)
	}
	for _, f := range p.fields {
		for _, hash := range f.in {
			if hash != 0 && hash != nothing {
				f.values[hash]++
			}
		}
	}
	return p.fields
}

// profiler looks at the events of a type, one after the other.
type profiler struct {
	byPath map[string]*field
	fields []*field
	i, n   int // the event, and how many there are
}

// value looks at a value and everything inside it. many says that it is inside an array.
func (p *profiler) value(path string, depth int, n event.Node, many bool) {
	switch {
	case depth > 0 && (n.Len() == 0 || depth == maxDepth):
		p.leaf(path, depth, n, many)
	case n.Kind() == event.Object:
		for name, value := range n.Members() {
			if !odd.MatchString(name) {
				p.value(below(path, name), depth+1, value, many)
			}
		}
	default:
		for element := range n.Elements() {
			p.value(path+"[]", depth, element, true)
		}
	}
}

// below returns the path of a member of what a path leads to.
func below(path, name string) string {
	step := event.Path{}.Member(name).String()
	if path == "" || step[0] == '[' {
		return path + step
	}
	return path + "." + step
}

func (p *profiler) leaf(path string, depth int, n event.Node, many bool) {
	f := p.byPath[path]
	if f == nil {
		if len(p.fields) == maxFields {
			return
		}
		f = &field{path: path, order: len(p.fields), depth: depth, in: make([]uint64, p.n), values: map[uint64]int{}}
		f.leaf, _ = event.ParsePath(path)
		p.byPath[path], p.fields = f, append(p.fields, f)
	}
	before := f.in[p.i]
	f.in[p.i] = before*31 + hashOf(n)
	switch {
	case before != 0:
	case many:
		f.others++
		f.present++
	default:
		f.see(n)
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
		f.seeText(value)
	case event.Number:
		f.numbers++
		f.seeNumber(value)
	default:
		f.others++
	}
	f.present++
	f.longest = max(f.longest, len(value.Text()))
}

func (f *field) seeText(value event.Node) {
	text := value.Text()
	if _, err := event.ParseDecimal(text); err == nil {
		f.quoted++
	}
	if !f.seeTime(value) && date.MatchString(text) {
		f.dates++
	}
	if mail.MatchString(text) {
		f.mails++
	}
}

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
	f.seeTime(value)
}

// reader is a way in which `at` reads a time.
type reader struct {
	keys.Function        // none for RFC 3339
	way           string // " | unix"
	in            *keys.Template
}

// readers are all ways.
var readers = func() (list []reader) {
	for _, f := range append([]keys.Function{{}}, keys.Functions()...) {
		way := ""
		if f.Name != "" {
			way = " | " + f.Name
		}
		if way == "" || f.Number || f.Reads != "" {
			in, _ := keys.ParseTemplate("{t" + way + "}") // no error: a test reads times with each
			list = append(list, reader{f, way, in})
		}
	}
	return list
}()

// A number is a time only if it lies between these.
var year2000, year2100 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// seeTime records the ways that read the value as a time, and reports whether there are any.
func (f *field) seeTime(value event.Node) (any bool) {
	text := value.Text()
	if len(text) < 9 || len(text) > 40 || text[3] != ',' && (text[0] < '0' || text[0] > '9') { // as in Sun, 01 Mar
		return false
	}
	doc, err := event.ParseDocument(`{"t":` + value.Raw() + `}`)
	if err != nil {
		return false
	}
	if f.reads == nil {
		f.reads = make([]int, len(readers))
	}
	for i, r := range readers {
		at, err := r.in.Time(&keys.Source{Data: doc.Root()})
		if err == nil && !(r.Number && (at.Before(year2000) || !at.Before(year2100))) {
			f.reads[i]++
			any = true
		}
	}
	return any
}

// times returns how many events have a time that one way reads, and which way that is.
func (f *field) times() (most int, with reader) {
	for i, n := range f.reads {
		if n > most {
			most, with = n, readers[i]
		}
	}
	return most, with
}

// always reports whether every one of n events has the field, but for a few that may be broken.
func (f *field) always(n int) bool { return f.present == n || few(n-f.present, n) }

// unique reports whether no two of n events have the same value.
func (f *field) unique(n int) bool { return f.always(n) && len(f.values) == f.present }

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
func (f *field) last() string {
	path := strings.TrimRight(f.path, "[]")
	return strings.Trim(path[strings.LastIndexAny(path, ".[")+1:], `"`)
}

// words returns the words of the last name in lower case: merchantId, merchant_id and MerchantID
// are all merchant and id.
func (f *field) words() []string {
	if list := words(f.last()); len(list) > 0 {
		return list
	}
	return []string{f.last()}
}

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
		case strings.IndexByte("_-. /:$@", c) >= 0:
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
