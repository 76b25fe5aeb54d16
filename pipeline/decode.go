package pipeline

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// decode reads the text of a file into a Spec and notes where everything stands. It reports invalid
// YAML, unknown and repeated names, missing members and values of the wrong kind. It continues
// after each mistake.
func decode(text []byte, r *report) Spec {
	var spec Spec
	file, fault := yamlfile.Parse(text)
	if fault != nil {
		r.mistakes = append(r.mistakes, Mistake{File: r.file, Line: fault.Line, Column: fault.Column, What: fault.What,
			Instead: fault.Instead})
		r.broken[""] = true
		return spec
	}
	if file.Root == nil {
		r.mistakes = append(r.mistakes, Mistake{File: r.file, Line: 1, Column: 1, What: "the file declares nothing", Instead: wholeFile})
		r.broken[""] = true
		return spec
	}
	d := decoder{report: r, shapes: map[reflect.Type]shape{}}
	if d.otherFormat(file.Root, &spec) {
		return spec // the compiler reports this, and nothing else
	}
	if file.Second != nil {
		r.values["---"] = position{Position: file.Second.Position}
		r.mistake("---", "a second YAML document begins here, and a pipeline is one document",
			"one document, without this --- and what follows it,")
	}
	d.value("", file.Root, reflect.ValueOf(&spec).Elem(), nil)
	return spec
}

// otherFormat reports whether the file says that it has another format. The names of another format
// may mean anything, so only its version is decoded.
func (d *decoder) otherFormat(root *yamlfile.Node, spec *Spec) bool {
	for _, m := range root.Members {
		if !m.Plain || m.Name != "ingot" {
			continue
		}
		if m.Value == nil || m.Value.Kind != yamlfile.Integer {
			return false // there is no version, which is reported like any other mistake
		}
		n, err := strconv.Atoi(m.Value.Text)
		if err != nil || n == Format {
			return false
		}
		d.values["ingot"], spec.Ingot = position{Position: m.Value.Position}, n
		return true
	}
	return false
}

// decoder fills Go values from YAML nodes by the struct tags of Spec.
type decoder struct {
	*report
	shapes map[reflect.Type]shape // of the structs met so far
}

// shape is what a struct declares: its fields, and what the file calls them.
type shape struct {
	fields []reflect.StructField
	names  []string
}

func (d *decoder) shape(t reflect.Type) shape {
	s, met := d.shapes[t]
	if !met {
		s.fields = reflect.VisibleFields(t)
		for _, f := range s.fields {
			s.names = append(s.names, f.Tag.Get("yaml"))
		}
		d.shapes[t] = s
	}
	return s
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	decimalType  = reflect.TypeFor[event.Decimal]()
)

// value decodes n into into. tags are those of the field that holds it. For members of a map or
// list, tags is nil.
func (d *decoder) value(p place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	d.values[p] = position{Position: n.Position}
	switch n.Kind {
	case yamlfile.Anchored, yamlfile.Alias, yamlfile.Tagged:
		d.breaks(p, "anchors, aliases and tags are not supported", "the value itself")
		return
	case yamlfile.Null:
		if into.Kind() == reflect.Map { // "aggregates:" with nothing below it
			return
		}
		d.breaks(p, nameOf(p)+" has no value", "its value after a colon and a space, or leave "+nameOf(p)+" out,")
		return
	}
	switch {
	case into.Type() == durationType:
		d.duration(p, n, into, tags)
	case into.Type() == timeType:
		d.time(p, n, into)
	case into.Type() == decimalType:
		d.decimal(p, n, into)
	case into.Kind() == reflect.Struct:
		d.members(p, n, into)
	case into.Kind() == reflect.Map:
		d.entries(p, n, into, tags)
	case into.Kind() == reflect.Slice:
		d.list(p, n, into)
	case into.Kind() == reflect.String && tags != nil && tags.Tag.Get("list") == "yes":
		d.textOrList(p, n, into)
	case into.Kind() == reflect.String:
		d.text(p, n, into)
	case into.Kind() == reflect.Bool:
		d.boolean(p, n, into)
	case into.CanInt() && tags != nil && tags.Tag.Get("size") == "yes":
		d.size(p, n, into, tags)
	case into.CanInt():
		d.integer(p, n, into, tags)
	}
}

func nameOf(p place) string {
	if p == "" {
		return "the file"
	}
	last := string(p[strings.LastIndex(string(p), placeSeparator)+1:])
	if up, ok := p.parent(); ok && up != "" && strings.Trim(last, "0123456789") == "" { // an entry of a list
		return nameOf(up) + "[" + last + "]"
	}
	return last
}

// breaks reports a mistake at p, and suppresses the mistakes that would follow from it.
func (d *decoder) breaks(p place, what, instead string) {
	d.mistake(p, what, instead)
	d.broken[p] = true
}

func (d *decoder) wrongKind(p place, n *yamlfile.Node, want, instead string) {
	d.breaks(p, fmt.Sprintf("%s is %s, not %s", nameOf(p), kindOf(n), want), instead)
}

func kindOf(n *yamlfile.Node) string {
	switch n.Kind {
	case yamlfile.Map:
		return "a mapping"
	case yamlfile.List:
		return "a list"
	case yamlfile.Bool:
		return "a boolean"
	case yamlfile.Integer, yamlfile.Float:
		return "a number"
	case yamlfile.Null:
		return "empty"
	}
	return "text"
}

// pairs lists the members of a mapping. It reports n if it is not a mapping. Repeated names are
// reported and left out.
func (d *decoder) pairs(p place, n *yamlfile.Node, instead string) []pair {
	if n.Kind != yamlfile.Map {
		d.wrongKind(p, n, "a mapping", instead)
		return nil
	}
	var again map[*yamlfile.Member]*yamlfile.Member
	for first, m := range n.Repeated {
		if again == nil {
			again = map[*yamlfile.Member]*yamlfile.Member{}
		}
		again[m] = first
	}
	pairs := make([]pair, 0, len(n.Members))
	for i := range n.Members {
		m := &n.Members[i]
		at := position{Position: m.Position}
		if !m.Plain {
			d.values[p.in("?")] = at
			d.mistake(p.in("?"), "a name must be plain text", "a name of letters, digits and _")
			continue
		}
		if earlier, repeated := again[m]; repeated {
			d.values[p.in("?")] = at
			d.mistake(p.in("?"), fmt.Sprintf("%s is already declared on line %d", m.Name, earlier.Line), "one of the two")
			continue
		}
		d.keys[p.in(m.Name)] = at
		pairs = append(pairs, pair{m.Name, m.Value})
	}
	return pairs
}

// unknown reports a member that its mapping does not have. If exactly one other mapping of the file
// has it, the mistake says which.
func (d *decoder) unknown(p place, name string, names []string) {
	var owners []string
	for _, o := range owned {
		if slices.Contains(d.shape(o.of).names, name) {
			owners = append(owners, o.name)
		}
	}
	if nearest.Name(name, names) == "" && len(owners) == 1 {
		d.misnamed(p, name+" does not belong here: it is a member of "+owners[0], name+" there")
		return
	}
	d.misnamed(p, "unknown name "+name, suggest(name, names))
}

// owned lists the mappings whose members are known by their names alone.
var owned = []struct {
	of   reflect.Type
	name string
}{
	{reflect.TypeFor[Spec](), "the file itself"},
	{reflect.TypeFor[EventSpec](), "an event type"},
	{reflect.TypeFor[PartSpec](), "part"},
	{reflect.TypeFor[PatternSpec](), "a pattern"},
	{reflect.TypeFor[AggregateSpec](), "an aggregate"},
	{reflect.TypeFor[FromSpec](), "an entry of from"},
}

type pair struct {
	name  string
	value *yamlfile.Node
}

// members decodes a mapping whose names are declared by the fields of a struct.
func (d *decoder) members(p place, n *yamlfile.Node, into reflect.Value) {
	shape := d.shape(into.Type())
	fields, names := shape.fields, shape.names
	seen, meant := map[string]bool{}, map[string]bool{}
	for _, m := range d.pairs(p, n, example(into.Type())) {
		at := p.in(m.name)
		i := slices.Index(names, m.name)
		if i < 0 {
			d.unknown(at, m.name, names)
			d.broken[at] = true
			meant[nearest.Name(m.name, names)] = true
			continue
		}
		seen[m.name] = true
		d.value(at, m.value, into.Field(i), &fields[i])
	}
	for i, f := range fields {
		switch {
		case seen[names[i]]:
		case meant[names[i]]: // it is there under a wrong name, which was reported already
			d.broken[p.in(names[i])] = true
		case f.Tag.Get("need") == "yes":
			d.breaks(p.in(names[i]), fmt.Sprintf("%s is missing in %s", names[i], nameOf(p)), absent(f))
		}
	}
}

// entries decodes a mapping whose names the user chooses.
func (d *decoder) entries(p place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	into.Set(reflect.MakeMap(into.Type()))
	instead := tags.Tag.Get("like")
	if tags.Name == "By" && n.Kind == yamlfile.Text {
		instead = cmp.Or(apart(map[string]string{"": n.Text}), instead)
	}
	for _, m := range d.pairs(p, n, instead) {
		v := reflect.New(into.Type().Elem()).Elem()
		if m.value.Kind == yamlfile.Map && tags.Tag.Get("entry") != "" {
			d.valueMapping(p.in(m.name), m.value, v, strings.Split(tags.Tag.Get("entry"), ","))
		} else {
			d.value(p.in(m.name), m.value, v, nil)
		}
		into.SetMapIndex(reflect.ValueOf(m.name), v)
	}
}

func (d *decoder) list(p place, n *yamlfile.Node, into reflect.Value) {
	if n.Kind != yamlfile.List {
		d.wrongKind(p, n, "a list", "[…]")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Items), len(n.Items)))
	for i, v := range n.Items {
		d.value(p.in(strconv.Itoa(i)), v, into.Index(i), nil)
	}
}
