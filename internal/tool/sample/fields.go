package sample

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/pipeline/question"
)

// fields holds what the events of one type have at the paths that the type reads.
type fields struct {
	paths  []*field
	times  Times
	firsts []First
	events int
}

type field struct {
	path   event.Path
	report Path
	kinds  []event.Kind // those that every use accepts
	lost   string       // the member of the path that is absent, and names are those beside it
	names  map[string]bool

	numeric []string // the uses that take a number alone
	numbers int      // events that have one
	texts   [2]int   // events that have text: of no number, of a number
	sorts   Sorts
	length  int // of the first text that With would sort
}

// Sorts is a field whose text is in another order than the numbers or times that it says.
type Sorts struct {
	Type, Path string
	With       string // the function that makes text in order: see [question.Sorter]
	Shown      bool   // the sample has texts in the wrong order
}

// Times says how many events of a type have a time that is hardly meant.
type Times struct {
	Type         string
	Of           int
	Early, Ahead int // of 1970, and more than a year ahead
}

// timed notes the time of an item.
func (x *run) timed(item *event.Item) {
	t := &x.fieldsOf(item.Type).times
	t.Type = item.Type
	if t.Of++; item.At.UTC().Year() == 1970 {
		t.Early++
	}
	if item.At.After(x.Now.AddDate(1, 0, 0)) {
		t.Ahead++
	}
}

// First is an array of which the first element alone is read.
type First struct {
	Type, Array string
	More        int // events in which the array has more than one element
	path        event.Path
	others      bool // something reads more of it
}

// arrays returns the arrays of which paths read the first element alone.
func arrays(reads []event.Read) (list []First) {
	for _, read := range reads {
		array, at := event.Path{}, read.Path
		for name, rest, ok := at.First(); ok; name, rest, ok = at.First() {
			array, at = array.Member(name), rest
		}
		n, _, numbered := at.Number()
		i := slices.IndexFunc(list, func(f First) bool { return f.path.Equal(array) })
		if i < 0 {
			i, list = len(list), append(list, First{Array: array.String(), path: array})
		}
		list[i].others = list[i].others || !numbered || n > 0
	}
	return slices.DeleteFunc(list, func(f First) bool { return f.others })
}

// sorted notes whether a text would be in order.
func (p *field) sorted(n event.Node) {
	text := n.Text()
	if d, is := where.Number(n); is && n.Kind() == event.Number {
		text = d.String()
	}
	with, never := question.Sorter(text)
	if with == "" {
		return
	}
	if p.sorts.With == "" {
		p.sorts.With, p.length = with, len(text)
	}
	p.sorts.Shown = p.sorts.Shown || never || len(text) != p.length
}

// maxBeside bounds how many names are kept of the members beside an absent one.
const maxBeside = 1000

// beside notes which members stand where the path leads nowhere.
func (p *field) beside(n event.Node) {
	for at := p.path; ; {
		name, rest, ok := at.First()
		if !ok {
			return
		}
		if next := n.Member(name); next.Exists() {
			n, at = next, rest
			continue
		}
		if p.names == nil {
			p.names = map[string]bool{}
		}
		for each := range n.Members() {
			if len(p.names) < maxBeside {
				p.names[each] = true
			}
		}
		p.lost = name
		return
	}
}

// place returns where the file of the pipeline names a path, as in pipeline.yaml:8: in the part of
// a type, or else anywhere. It returns "" if it does not find it.
func (s *Sampler) place(typ, path string) string {
	word := regexp.MustCompile(`(^|[^\w.@#-])` + regexp.QuoteMeta(path) + `($|[^\w.-])`)
	found, within := 0, false
	for n, line := range strings.Split(string(s.Text), "\n") {
		begins := strings.HasPrefix(strings.TrimSpace(line), typ+":")
		within = within || begins
		if before, _, _ := strings.Cut(line, " #"); word.MatchString(before) && (found == 0 || within) {
			found = n + 1
			if within {
				break
			}
		}
	}
	if found == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.Name, found)
}

func (x *run) fieldsOf(typ string) *fields {
	f := x.fields[typ]
	if f == nil {
		reads := x.described.Reads[typ]
		if x.Also != nil {
			reads = slices.Concat(reads, x.Also(typ))
		}
		f = newFields(reads)
		x.fields[typ] = f
	}
	return f
}

// newFields combines the uses of each path.
func newFields(reads []event.Read) *fields {
	f := &fields{firsts: arrays(reads)}
	for _, read := range reads {
		i := slices.IndexFunc(f.paths, func(p *field) bool { return p.path.Equal(read.Path) })
		if i < 0 {
			f.paths = append(f.paths, &field{path: read.Path, report: Path{Path: read.Path.String()}, kinds: read.Kinds})
			i = len(f.paths) - 1
		}
		p := f.paths[i]
		if len(read.Kinds) == 1 && read.Kinds[0] == event.Number {
			p.numeric = append(p.numeric, read.Use)
		}
		p.report.Uses, p.report.Needed = append(p.report.Uses, read.Use), p.report.Needed || read.Needed
		p.kinds = slices.DeleteFunc(slices.Clone(p.kinds), func(k event.Kind) bool { return !slices.Contains(read.Kinds, k) })
	}
	return f
}

func (f *fields) see(root event.Node) {
	f.events++
	for i := range f.firsts {
		if n := root.At(f.firsts[i].path); n.Kind() == event.Array && n.Len() > 1 {
			f.firsts[i].More++
		}
	}
	for _, p := range f.paths {
		n := root.At(p.path)
		p.count(n)
		switch kind := n.Kind(); {
		case kind == event.Absent:
			p.report.Absent++
			p.beside(root)
		case kind == event.Null:
			p.report.Null++
		case !slices.Contains(p.kinds, kind):
			if p.report.Other == nil {
				p.report.Other = map[string]int{}
			}
			p.report.Other[kind.String()]++
		case kind == event.String && n.Text() == "":
			p.report.Empty++
		}
	}
}

// count notes what stands where a number is read.
func (p *field) count(n event.Node) {
	_, is := where.Number(n)
	p.sorted(n)
	switch n.Kind() {
	case event.Number:
		p.numbers++
	case event.String:
		if is {
			p.texts[1]++
		} else {
			p.texts[0]++
		}
	}
}

// Quoted is a field of which a use takes numbers alone, and that is text in the sample.
type Quoted struct {
	Type, Path string
	Uses       []string
	Number     bool // the text is that of a number
	Count      int  // events that have the text
}

// quoted lists the fields that hold the text of numbers, and those that hold text and no number.
func (f *fields) quoted(typ string) (list []Quoted) {
	for _, p := range f.paths {
		q := Quoted{typ, p.report.Path, p.numeric, p.texts[1] > 0, p.texts[1]}
		if !q.Number && p.numbers == 0 {
			q.Count = p.texts[0]
		}
		if q.Count > 0 && len(q.Uses) > 0 {
			list = append(list, q)
		}
	}
	return list
}

func (p *Path) fine() bool { return p.Absent+p.Null+p.Empty+len(p.Other) == 0 }

// faulty lists the paths that some event lacks or has with another type. Of a path that no event
// has, it says which name is near, and where the pipeline names it.
func (f *fields) faulty(typ string, place func(typ, path string) string) []Path {
	var list []Path
	for _, p := range f.paths {
		if p.report.Absent == f.events {
			p.report.Meant = nearest.Name(p.lost, slices.Sorted(maps.Keys(p.names)))
			p.report.Place = place(typ, p.report.Path)
		}
		if p.report.Type, p.report.Of = typ, f.events; !p.report.fine() {
			list = append(list, p.report)
		}
	}
	return list
}

func (f *fields) fine() int {
	n := 0
	for _, p := range f.paths {
		if p.report.fine() {
			n++
		}
	}
	return n
}
