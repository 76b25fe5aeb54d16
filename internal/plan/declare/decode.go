package declare

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

// Words is what a kind of file calls its members, where a message needs it.
type Words struct {
	Version string                    // the member with the version of the format, such as ingot
	Format  int                       // that version
	What    string                    // what one document of the file is: a pipeline
	Whole   string                    // what every file must have
	Owned   []Owner                   // the mappings whose members are known by their names alone
	Example func(reflect.Type) string // the shape of a struct in the file
	// Absent returns what to write for a member that must be there, besides the version. If it is
	// nil or returns nothing, its tag like says that.
	Absent func(reflect.StructField) string
	// Empty returns what to write for a member of this name that is empty. If it is nil or returns
	// nothing, that is a text.
	Empty func(name string) string
	// Like returns what to write for a mapping whose names the user chooses. If it is nil or
	// returns nothing, its tag like says that.
	Like func(f *reflect.StructField, n *yamlfile.Node) string
	// Entry decodes an entry that is a mapping, of a member whose tags have entry.
	Entry func(d *Decoder, p Place, n *yamlfile.Node, into reflect.Value, members []string)
}

// Owner is a mapping, and what a message calls it.
type Owner struct {
	Of   reflect.Type
	Name string
}

// Decode reads the text of a file into a struct and notes where everything stands. It reports
// invalid YAML, unknown and repeated names, missing members and values of the wrong kind. It
// continues after each mistake. If the file says that it has another version, only its version is
// decoded, because its names may mean anything: the caller reports that.
func Decode(text []byte, r *Report, words *Words, into any) {
	file, fault := yamlfile.Parse(text)
	if fault != nil {
		r.Mistakes = append(r.Mistakes, Mistake{File: r.File, Line: fault.Line, Column: fault.Column, What: fault.What,
			Instead: fault.Instead})
		r.Broken[""] = true
		return
	}
	if file.Root == nil {
		r.Mistakes = append(r.Mistakes, Mistake{File: r.File, Line: 1, Column: 1, What: "the file declares nothing", Instead: words.Whole})
		r.Broken[""] = true
		return
	}
	d := Decoder{Report: r, words: words, shapes: map[reflect.Type]shape{}}
	spec := reflect.ValueOf(into).Elem()
	if d.otherFormat(file.Root, spec) {
		return
	}
	if file.Second != nil {
		r.Values["---"] = Position{Position: file.Second.Position}
		r.Mistake("---", "a second YAML document begins here, and a "+words.What+" is one document",
			"one document, without this --- and what follows it")
	}
	d.Value("", file.Root, spec, nil)
}

// otherFormat reports whether the file says that it has another version, and decodes that.
func (d *Decoder) otherFormat(root *yamlfile.Node, spec reflect.Value) bool {
	for _, m := range root.Members {
		if !m.Plain || m.Name != d.words.Version {
			continue
		}
		if m.Value == nil || m.Value.Kind != yamlfile.Integer {
			return false // there is no version, which is reported like any other mistake
		}
		n, err := strconv.Atoi(m.Value.Text)
		if err != nil || n == d.words.Format {
			return false
		}
		d.Values[Place(m.Name)] = Position{Position: m.Value.Position}
		shape := d.shape(spec.Type())
		spec.Field(slices.Index(shape.names, m.Name)).SetInt(int64(n))
		return true
	}
	return false
}

// Decoder fills Go values from YAML nodes by the tags of their structs.
type Decoder struct {
	*Report
	words  *Words
	shapes map[reflect.Type]shape // of the structs met so far
}

// shape is what a struct declares: its fields, and what the file calls them.
type shape struct {
	fields []reflect.StructField
	names  []string
}

func (d *Decoder) shape(t reflect.Type) shape {
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

// Value decodes n into into. tags are those of the field that holds it. For members of a map or
// list, tags is nil.
func (d *Decoder) Value(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	d.Values[p] = Position{Position: n.Position}
	switch n.Kind {
	case yamlfile.Anchored, yamlfile.Alias, yamlfile.Tagged:
		d.Breaks(p, "anchors, aliases and tags are not supported", "the value itself")
		return
	case yamlfile.Null:
		if into.Kind() == reflect.Map { // "aggregates:" with nothing below it
			return
		}
		d.Breaks(p, NameOf(p)+" has no value", "its value after a colon and a space"+orLeaveOut(p, tags))
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
		d.list(p, n, into, tags)
	case into.Kind() == reflect.String && tags != nil && tags.Tag.Get("list") == "yes":
		d.textOrList(p, n, into, tags)
	case into.Kind() == reflect.String:
		d.text(p, n, into, tags)
	case into.Kind() == reflect.Bool:
		d.boolean(p, n, into)
	case into.CanInt() && tags != nil && tags.Tag.Get("size") == "yes":
		d.size(p, n, into, tags)
	case into.CanInt():
		d.integer(p, n, into, tags)
	}
}

// orLeaveOut is the end of an advice about a member, if the file need not have it.
func orLeaveOut(p Place, tags *reflect.StructField) string {
	if tags != nil && tags.Tag.Get("need") == "yes" {
		return ""
	}
	return ", or leave " + NameOf(p) + " out"
}

// NameOf returns what a message calls the member at p.
func NameOf(p Place) string {
	if p == "" {
		return "the file"
	}
	last := string(p[strings.LastIndex(string(p), Separator)+1:])
	if up, ok := p.Parent(); ok && up != "" && strings.Trim(last, "0123456789") == "" { // an entry of a list
		return NameOf(up) + "[" + last + "]"
	}
	return last
}

// Breaks reports a mistake at p, and suppresses the mistakes that would follow from it.
func (d *Decoder) Breaks(p Place, what, instead string) {
	d.Mistake(p, what, instead)
	d.Broken[p] = true
}

func (d *Decoder) wrongKind(p Place, n *yamlfile.Node, want, instead string) {
	d.Breaks(p, fmt.Sprintf("%s is %s, not %s", NameOf(p), kindOf(n), want), instead)
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

// Pairs lists the members of a mapping. It reports n if it is not a mapping. Repeated names are
// reported and left out.
func (d *Decoder) Pairs(p Place, n *yamlfile.Node, instead string) []Pair {
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
	pairs := make([]Pair, 0, len(n.Members))
	for i := range n.Members {
		m := &n.Members[i]
		at := Position{Position: m.Position}
		if !m.Plain {
			d.Values[p.In("?")] = at
			d.Mistake(p.In("?"), "a name must be plain text", "a name of letters, digits and _")
			continue
		}
		if earlier, repeated := again[m]; repeated {
			d.Values[p.In("?")] = at
			d.Mistake(p.In("?"), fmt.Sprintf("%s is already declared on line %d", m.Name, earlier.Line), "one of the two")
			continue
		}
		d.Keys[p.In(m.Name)] = at
		pairs = append(pairs, Pair{m.Name, m.Value})
	}
	return pairs
}

// unknown reports a member that its mapping does not have. If exactly one other mapping of the file
// has it, the mistake says which.
func (d *Decoder) unknown(p Place, name string, names []string) {
	var owners []string
	for _, o := range d.words.Owned {
		if slices.Contains(d.shape(o.Of).names, name) {
			owners = append(owners, o.Name)
		}
	}
	if nearest.Name(name, names) == "" && len(owners) == 1 {
		d.Misnamed(p, name+" does not belong here: it is a member of "+owners[0], name+" there")
		return
	}
	d.Misnamed(p, "unknown name "+name, Suggest(name, names))
}

// Pair is a name of a mapping with its value.
type Pair struct {
	Name  string
	Value *yamlfile.Node
}

// members decodes a mapping whose names are declared by the fields of a struct.
func (d *Decoder) members(p Place, n *yamlfile.Node, into reflect.Value) {
	shape := d.shape(into.Type())
	fields, names := shape.fields, shape.names
	seen, meant := map[string]bool{}, map[string]bool{}
	for _, m := range d.Pairs(p, n, d.words.Example(into.Type())) {
		at := p.In(m.Name)
		i := slices.Index(names, m.Name)
		if i < 0 {
			d.unknown(at, m.Name, names)
			d.Broken[at] = true
			meant[nearest.Name(m.Name, names)] = true
			continue
		}
		seen[m.Name] = true
		d.Value(at, m.Value, into.Field(i), &fields[i])
	}
	for i, f := range fields {
		switch {
		case seen[names[i]]:
		case meant[names[i]]: // it is there under a wrong name, which was reported already
			d.Broken[p.In(names[i])] = true
		case f.Tag.Get("need") == "yes":
			d.Breaks(p.In(names[i]), fmt.Sprintf("%s is missing in %s", names[i], NameOf(p)), d.absent(f))
		}
	}
}

// entries decodes a mapping whose names the user chooses.
func (d *Decoder) entries(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	into.Set(reflect.MakeMap(into.Type()))
	if tags == nil { // it is itself an entry of a mapping
		tags = &reflect.StructField{}
	}
	instead := tags.Tag.Get("like")
	if d.words.Like != nil {
		instead = cmp.Or(d.words.Like(tags, n), instead)
	}
	for _, m := range d.Pairs(p, n, instead) {
		v := reflect.New(into.Type().Elem()).Elem()
		if m.Value.Kind == yamlfile.Map && tags.Tag.Get("entry") != "" {
			d.words.Entry(d, p.In(m.Name), m.Value, v, strings.Split(tags.Tag.Get("entry"), ","))
		} else {
			d.Value(p.In(m.Name), m.Value, v, nil)
		}
		into.SetMapIndex(reflect.ValueOf(m.Name), v)
	}
}

func (d *Decoder) list(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	all := ""
	if tags != nil {
		all = tags.Tag.Get("all")
	}
	switch {
	case n.Kind == yamlfile.Bool && all != "":
		d.whole(p, n, into, all)
		return
	case n.Kind == yamlfile.Map && tags != nil && tags.Tag.Get("named") != "":
		d.named(p, n, into)
		return
	case n.Kind != yamlfile.List && all != "":
		d.wrongKind(p, n, "true or a list", "true, or "+d.asList(n, into.Type().Elem()))
		return
	case n.Kind != yamlfile.List:
		d.wrongKind(p, n, "a list", d.asList(n, into.Type().Elem()))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Items), len(n.Items)))
	for i, v := range n.Items {
		d.Value(p.In(strconv.Itoa(i)), v, into.Index(i), nil)
	}
}

// named decodes a mapping of texts in place of a list of them: each becomes NAME=TEXT.
func (d *Decoder) named(p Place, n *yamlfile.Node, into reflect.Value) {
	pairs := d.Pairs(p, n, "")
	into.Set(reflect.MakeSlice(into.Type(), len(pairs), len(pairs)))
	for i, m := range pairs {
		d.Value(p.In(strconv.Itoa(i)), m.Value, into.Index(i), nil)
		into.Index(i).SetString(m.Name + "=" + into.Index(i).String())
	}
}

// whole decodes true in place of a list: as a list with one entry, whose first member is all.
func (d *Decoder) whole(p Place, n *yamlfile.Node, into reflect.Value, all string) {
	var yes bool
	if d.boolean(p, n, reflect.ValueOf(&yes).Elem()); yes {
		into.Set(reflect.MakeSlice(into.Type(), 1, 1))
		into.Index(0).Field(0).SetString(all)
	}
}

// asList returns what to write for a list with elements of a type: the text that is there, or an
// example.
func (d *Decoder) asList(n *yamlfile.Node, elem reflect.Type) string {
	example := d.words.Example(elem)
	switch {
	case n.Kind == yamlfile.Map:
		return "it in brackets"
	case ownText(n) && elem.Kind() == reflect.String && n.Style == yamlfile.Plain:
		return "[" + n.Text + "]"
	case ownText(n) && elem.Kind() == reflect.String:
		return "[" + strconv.Quote(n.Text) + "]"
	case strings.HasPrefix(example, "{"):
		return "[" + example + "]"
	}
	return cmp.Or(example, "[…]")
}

// absent returns what to write for a member that must be there.
func (d *Decoder) absent(f reflect.StructField) string {
	name, instead := f.Tag.Get("yaml"), ""
	switch {
	case name == d.words.Version:
		instead = strconv.Itoa(d.words.Format)
	case d.words.Absent != nil:
		instead = d.words.Absent(f)
	}
	return name + ": " + cmp.Or(instead, f.Tag.Get("like"), d.words.Example(f.Type))
}

// Suggest returns the closest of names. If none is close, it returns all of them.
func Suggest(word string, names []string) string {
	if best := nearest.Name(word, names); best != "" {
		return best
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(sorted) > 12 {
		sorted = append(sorted[:12], "…")
	}
	switch len(sorted) {
	case 0:
		return ""
	case 1:
		return sorted[0]
	}
	return "one of " + strings.Join(sorted, ", ")
}
