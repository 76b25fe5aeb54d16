package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/ingot-events/ingot/internal/syntax"
)

// decode reads the text of a file into a Spec and notes where everything stands. It reports what is not
// YAML, unknown and repeated names, missing members and values of the wrong kind; it goes on after each.
func decode(text []byte, r *report) Spec {
	var spec Spec
	file, fault := syntax.Parse(syntax.Text(text), parser.AllowDuplicateMapKey())
	if fault != nil {
		r.mistakes = append(r.mistakes, Mistake{File: r.file, Line: fault.Line, Column: fault.Column, What: fault.What, Instead: fault.Instead})
		r.broken[""] = true
		return spec
	}
	d := decoder{report: r}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body == nil && d.otherFormat(doc.Body, &spec) {
			return spec // the compiler says so, and nothing else
		}
		if body != nil {
			r.values["---"] = positionOf(doc.Body)
			r.mistake("---", "a second YAML document begins here, and a pipeline is one document", "one document, without this --- and what follows it,")
			break
		}
		body = doc.Body
	}
	if body == nil {
		r.mistakes = append(r.mistakes, Mistake{File: r.file, Line: 1, Column: 1, What: "the file declares nothing", Instead: wholeFile})
		r.broken[""] = true
		return spec
	}
	d.value("", body, reflect.ValueOf(&spec).Elem(), nil)
	return spec
}

// otherFormat reports whether the file says that it is of another format, which may mean anything by its names. If
// so, its version alone is decoded.
func (d *decoder) otherFormat(body ast.Node, spec *Spec) bool {
	members, _ := mapping(body)
	for _, v := range members {
		if key, ok := v.Key.(ast.ScalarNode); !ok || key.GetToken().Value != "ingot" {
			continue
		}
		version, ok := v.Value.(*ast.IntegerNode)
		if !ok {
			return false // no version at all: one mistake among the others
		}
		n, err := strconv.Atoi(version.Token.Value)
		if err != nil || n == Format {
			return false
		}
		d.values["ingot"], spec.Ingot = positionOf(version), n
		return true
	}
	return false
}

// mapping is the members of n, if it is a mapping.
func mapping(n ast.Node) (members []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func positionOf(n ast.Node) position {
	if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	at := n.GetToken().Position
	return position{line: at.Line, column: max(1, at.Column)}
}

// decoder fills Go values from YAML nodes by the struct tags of Spec.
type decoder struct{ *report }

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// value decodes n into into. Tags are those of the field that holds it; nil for members of a map or list.
func (d *decoder) value(p place, n ast.Node, into reflect.Value, tags *reflect.StructField) {
	d.values[p] = positionOf(n)
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.breaks(p, "anchors, aliases and tags are not read", "the value itself")
		return
	case *ast.NullNode:
		if into.Kind() == reflect.Map { // "aggregates:" with nothing below it
			return
		}
		d.breaks(p, nameOf(p)+" has no value", "its value after a colon and a blank, or leave "+nameOf(p)+" out,")
		return
	}
	switch {
	case into.Type() == durationType:
		d.duration(p, n, into)
	case into.Type() == timeType:
		d.time(p, n, into)
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
	case into.CanInt():
		d.integer(p, n, into, tags)
	default: // reserved: the compiler refuses it
		into.Set(reflect.ValueOf(true))
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

// breaks reports a mistake at p and keeps what would follow from it quiet.
func (d *decoder) breaks(p place, what, instead string) {
	d.mistake(p, what, instead)
	d.broken[p] = true
}

func (d *decoder) wrongKind(p place, n ast.Node, want, instead string) {
	d.breaks(p, fmt.Sprintf("%s is %s, not %s", nameOf(p), kindOf(n), want), instead)
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode:
		return "a boolean"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.NullNode:
		return "empty"
	}
	return "text"
}

// pairs lists the members of a mapping, or reports that n is none. Repeated names are reported and left
// out.
func (d *decoder) pairs(p place, n ast.Node, instead string) []pair {
	values, ok := mapping(n)
	if !ok {
		d.wrongKind(p, n, "a mapping", instead)
		return nil
	}
	var pairs []pair
	first := map[string]position{}
	for _, v := range values {
		key, ok := v.Key.(ast.ScalarNode)
		if _, null := v.Key.(*ast.NullNode); !ok || null {
			d.values[p.in("?")] = positionOf(v.Key)
			d.mistake(p.in("?"), "a name must be plain text", "a name of letters, digits and _")
			continue
		}
		name, at := key.GetToken().Value, positionOf(v.Key)
		if earlier, repeated := first[name]; repeated {
			d.values[p.in("?")] = at
			d.mistake(p.in("?"), fmt.Sprintf("%s is already declared in line %d", name, earlier.line), "one of the two")
			continue
		}
		first[name] = at
		d.keys[p.in(name)] = at
		pairs = append(pairs, pair{name, v.Value})
	}
	return pairs
}

type pair struct {
	name  string
	value ast.Node
}

// members decodes a mapping whose names are declared by the fields of a struct.
func (d *decoder) members(p place, n ast.Node, into reflect.Value) {
	fields := reflect.VisibleFields(into.Type())
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Tag.Get("yaml")
	}
	seen, meant := map[string]bool{}, map[string]bool{}
	for _, m := range d.pairs(p, n, example(into.Type())) {
		at := p.in(m.name)
		i := slices.Index(names, m.name)
		if i < 0 {
			d.misnamed(at, "unknown name "+m.name, suggest(m.name, names))
			d.broken[at] = true
			meant[nearest(m.name, names)] = true
			continue
		}
		seen[m.name] = true
		d.value(at, m.value, into.Field(i), &fields[i])
	}
	for i, f := range fields {
		switch {
		case seen[names[i]]:
		case meant[names[i]]: // it is there under a wrong name, which has been said
			d.broken[p.in(names[i])] = true
		case f.Tag.Get("need") == "yes":
			d.breaks(p.in(names[i]), fmt.Sprintf("%s is missing in %s", names[i], nameOf(p)), absent(f))
		}
	}
}

// entries decodes a mapping with names of the user's own.
func (d *decoder) entries(p place, n ast.Node, into reflect.Value, tags *reflect.StructField) {
	into.Set(reflect.MakeMap(into.Type()))
	for _, m := range d.pairs(p, n, tags.Tag.Get("like")) {
		v := reflect.New(into.Type().Elem()).Elem()
		if _, ok := mapping(m.value); ok && tags.Tag.Get("entry") != "" {
			d.valueMapping(p.in(m.name), m.value, v, strings.Split(tags.Tag.Get("entry"), ","))
		} else {
			d.value(p.in(m.name), m.value, v, nil)
		}
		into.SetMapIndex(reflect.ValueOf(m.name), v)
	}
}

func (d *decoder) list(p place, n ast.Node, into reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrongKind(p, n, "a list", "[…]")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(seq.Values), len(seq.Values)))
	for i, v := range seq.Values {
		d.value(p.in(strconv.Itoa(i)), v, into.Index(i), nil)
	}
}
