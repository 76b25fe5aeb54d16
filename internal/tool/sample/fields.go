package sample

import (
	"slices"

	"github.com/ingot-events/ingot/event"
)

// fields holds what the events of one type have at the paths that the type reads.
type fields struct {
	paths  []*field
	events int
}

type field struct {
	path   event.Path
	report Path
	kinds  []event.Kind // those that every use accepts
}

func (x *run) fieldsOf(typ string) *fields {
	f := x.fields[typ]
	if f == nil {
		f = newFields(x.described.Reads[typ])
		x.fields[typ] = f
	}
	return f
}

// newFields combines the uses of each path.
func newFields(reads []event.Read) *fields {
	f := &fields{}
	for _, read := range reads {
		i := slices.IndexFunc(f.paths, func(p *field) bool { return p.path.Equal(read.Path) })
		if i < 0 {
			f.paths = append(f.paths, &field{path: read.Path, report: Path{Path: read.Path.String()}, kinds: read.Kinds})
			i = len(f.paths) - 1
		}
		p := f.paths[i]
		p.report.Uses, p.report.Needed = append(p.report.Uses, read.Use), p.report.Needed || read.Needed
		p.kinds = slices.DeleteFunc(slices.Clone(p.kinds), func(k event.Kind) bool { return !slices.Contains(read.Kinds, k) })
	}
	return f
}

func (f *fields) see(root event.Node) {
	f.events++
	for _, p := range f.paths {
		n := root.At(p.path)
		switch kind := n.Kind(); {
		case kind == event.Absent:
			p.report.Absent++
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

func (p *Path) fine() bool { return p.Absent+p.Null+p.Empty+len(p.Other) == 0 }

// faulty lists the paths that some event lacks or has with another type.
func (f *fields) faulty(typ string) []Path {
	var list []Path
	for _, p := range f.paths {
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
