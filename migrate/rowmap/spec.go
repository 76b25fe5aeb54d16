package rowmap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Format is the version of migration.yaml that this build reads.
const Format = 1

// Spec is migration.yaml as Go values.
type Spec struct {
	// The version of this format: 1.
	Migration int `yaml:"migration" need:"yes" min:"1"`
	// What the control item, the metrics and the marks in pipeline.yaml call the migration:
	// lower-case letters, digits and -, at most 40.
	Name string `yaml:"name" need:"yes" like:"users"`
	// The table that is left.
	From FromSpec `yaml:"from" need:"yes"`
	// What rows become. The first entry whose where holds takes the row.
	Rows []RowSpec `yaml:"rows" need:"yes"`
	// How the events of a type change their rows: the attributes that they set, as templates of
	// their payload, key attributes among them. With it, the old table follows the new one after a
	// turn, so that there is a way back.
	Back map[string]map[string]string `yaml:"back" like:"{user.profile: {userId: \"{user_id}\"}}"`
}

// FromSpec names the table that is left.
type FromSpec struct {
	// Its name, or ${VARIABLE} for that of an environment variable.
	Table string `yaml:"table" need:"yes" like:"UserDataV1"`
}

// RowSpec says what some of the rows become.
type RowSpec struct {
	// A condition for the rows that the entry takes, as in pipeline.yaml. By default it takes all.
	Where string `yaml:"where"`
	// The event type of pipeline.yaml that a row becomes.
	Type string `yaml:"type"`
	// The members of its payload. A text that is one variable alone, such as "{userId}", keeps the
	// attribute's type; a missing one leaves the member out. By default the payload is the whole
	// row.
	Payload map[string]string `yaml:"payload" like:"{user_id: \"{userId}\"}"`
	// In place of type: why these rows are not carried over.
	Skip string `yaml:"skip"`
}

// Mapping is a checked and compiled migration.yaml.
type Mapping struct {
	spec     Spec
	pipeline *pipeline.Pipeline
	rows     []rowMap
	types    []string            // by name
	becomes  map[string]bool     // the types, and those of their parts
	digest   string              // of what says what rows become
	back     map[string][]member // by type: the attributes of its row; empty: there is no way back
}

// rowMap is a compiled [RowSpec].
type rowMap struct {
	where   *where.Condition
	typ     string
	payload []member        // by name; nil: the whole row
	taken   map[string]bool // the attributes that templates read
	skip    string
}

// member is one member of an object that templates make.
type member struct {
	name     string
	template *keys.Template
	path     event.Path // of a template that is this one variable; zero: the template makes text
}

const wholeFile = "migration: 1, name:, from: and rows:"

var words = &declare.Words{
	Version: "migration", Format: Format, What: "migration", Whole: wholeFile,
	Owned: []declare.Owner{
		{Of: reflect.TypeFor[Spec](), Name: "the file itself"},
		{Of: reflect.TypeFor[FromSpec](), Name: "from"},
		{Of: reflect.TypeFor[RowSpec](), Name: "an entry of rows"},
	},
	Example: func(t reflect.Type) string {
		switch t {
		case reflect.TypeFor[Spec]():
			return wholeFile
		case reflect.TypeFor[FromSpec]():
			return "{table: UserDataV1}"
		case reflect.TypeFor[RowSpec](), reflect.TypeFor[[]RowSpec]():
			return "[{type: user.profile}]"
		}
		return ""
	},
}

// Load reads and compiles the named file for a pipeline. The error is [pipeline.Mistakes] or an
// [*fs.PathError].
func Load(fsys fs.FS, name string, p *pipeline.Pipeline) (*Mapping, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	c := &compiler{Report: declare.NewReport(name), m: &Mapping{pipeline: p, becomes: map[string]bool{}, back: map[string][]member{}}}
	declare.Decode(text, c.Report, words, &c.m.spec)
	c.compile()
	if len(c.Mistakes) == 0 {
		return c.m, nil
	}
	var list pipeline.Mistakes
	for _, m := range c.Mistakes.Sorted() {
		list = append(list, pipeline.Mistake(m))
	}
	return nil, list
}

type compiler struct {
	*declare.Report
	m *Mapping
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

func (c *compiler) compile() {
	s := &c.m.spec
	if s.Migration != Format {
		c.Mistake("migration", fmt.Sprintf("migration: %d is not a format that this build reads: it reads %d", s.Migration, Format),
			fmt.Sprintf("migration: %d", Format))
		return
	}
	if !namePattern.MatchString(s.Name) {
		c.Mistake("name", fmt.Sprintf("%q is not a name of at most 40 lower-case letters, digits and -", s.Name),
			"another name, such as users")
	}
	if len(s.Rows) == 0 {
		c.Mistake("rows", "rows takes no row", "[{type: user.profile}]")
	}
	specs := c.m.pipeline.Describe().Spec.Events
	for i, row := range s.Rows {
		at := declare.Place("rows").In(strconv.Itoa(i))
		if i > 0 && s.Rows[i-1].Where == "" {
			instead := "it before that one"
			if row.Where == "" { // neither would be reached behind the other
				instead = "one of the two"
			}
			c.Mistake(at, fmt.Sprintf("rows[%d] never takes a row, because rows[%d] has no where and takes all", i, i-1), instead)
		}
		c.m.rows = append(c.m.rows, c.row(at, row, specs))
	}
	slices.Sort(c.m.types)
	c.m.types = slices.Compact(c.m.types)
	c.back(specs)
	becoming := map[string]pipeline.EventSpec{}
	for name, of := range specs {
		if c.m.becomes[name] = slices.Contains(c.m.types, name) || slices.Contains(c.m.types, of.Part.Of); c.m.becomes[name] {
			becoming[name] = of
		}
	}
	text, err := json.Marshal([]any{s.Rows, s.Back, becoming})
	if err != nil {
		c.Mistake("rows", err.Error(), "")
	}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if specs[name].Migrated == s.Name && !slices.Contains(c.m.types, name) && len(c.Mistakes) == 0 {
			c.Mistake("rows", fmt.Sprintf("no rows become %s, and the pipeline holds its messages back until migration %s turns it", name,
				s.Name), "an entry of rows for it, or no migrated in that type")
		}
	}
	sum := sha256.Sum256(text)
	c.m.digest = hex.EncodeToString(sum[:16])
}

func (c *compiler) row(at declare.Place, s RowSpec, specs map[string]pipeline.EventSpec) (m rowMap) {
	m.typ, m.skip = s.Type, s.Skip
	if s.Where != "" {
		condition, bad := where.Parse(s.Where)
		if bad != nil {
			c.MistakeAt(at.In("where"), s.Where, bad.Offset, bad.What, bad.Instead)
		}
		m.where = condition
	}
	switch {
	case (s.Type == "") == (s.Skip == ""):
		c.Mistake(at, "an entry says what its rows become, or why they are skipped", "either type or skip")
		return m
	case s.Skip != "" && len(s.Payload) > 0:
		c.Mistake(at.In("payload"), "rows that are skipped have no payload", "type in place of skip")
	case s.Skip != "":
		return m
	}
	if c.known(at.In("type"), s.Type, specs) {
		c.m.types = append(c.m.types, s.Type)
	}
	m.payload, m.taken = c.members(at.In("payload"), s.Payload, nil), map[string]bool{}
	for _, member := range m.payload {
		for _, path := range member.template.Paths() {
			name, _, _ := path.First()
			m.taken[name] = true
		}
	}
	return m
}

// back compiles the way back. All types turn together, so each has an entry, or none has.
func (c *compiler) back(specs map[string]pipeline.EventSpec) {
	if len(c.m.spec.Back) == 0 {
		return
	}
	for _, typ := range c.m.types {
		at := declare.Place("back").In(typ)
		switch members := c.m.spec.Back[typ]; {
		case len(members) == 0:
			c.Mistake("back", "back has no entry for "+typ+", and all types of a migration go back together", typ+": {…} in back")
		case specs[typ].Offload.Over > 0:
			c.Mistake(at, typ+" has offload: where its payload is gone, nobody knows which row it was, so there is no way back", "no back")
		case slices.ContainsFunc(slices.Collect(maps.Values(specs)), func(s pipeline.EventSpec) bool { return s.Part.Of == typ }):
			c.Mistake(at, typ+" has parts, and a row that is made of several items has no way back", "no back")
		default:
			c.m.back[typ] = c.members(at, members, []string{"@id", "@at", "@type"})
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(c.m.spec.Back)) {
		if !slices.Contains(c.m.types, typ) {
			c.Mistake(declare.Place("back").In(typ), "no rows become "+typ, declare.Suggest(typ, c.m.types))
		}
	}
}

// known reports whether the pipeline has a type that rows can become.
func (c *compiler) known(at declare.Place, typ string, specs map[string]pipeline.EventSpec) bool {
	of, there := specs[typ]
	switch {
	case !there:
		c.Mistake(at, "the pipeline has no event type "+typ, declare.Suggest(typ, slices.Collect(maps.Keys(specs))))
	case of.Part.Of != "":
		c.Mistake(at, typ+" is a part of "+of.Part.Of+", and a row becomes a whole with its parts", of.Part.Of)
	case of.Migrated != c.m.spec.Name:
		c.Mistake(at, fmt.Sprintf("events.%s of the pipeline does not say that migration %s moves rows into it, so copies would be taken for "+
			"events", typ, c.m.spec.Name), "migrated: "+c.m.spec.Name+" in that event type")
	default:
		return true
	}
	return false
}

// members compiles the members of an object.
func (c *compiler) members(at declare.Place, templates map[string]string, derived []string) (list []member) {
	of, instead := "of a row", "an attribute of the row, such as {userId}"
	if derived != nil {
		of, instead = "here", "a member of the payload, @id, @at or @type"
	}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		t, err := keys.ParseTemplate(templates[name])
		if bad := (*keys.TemplateError)(nil); errors.As(err, &bad) {
			c.MistakeAt(at.In(name), templates[name], bad.Offset, bad.What, bad.Instead)
			continue
		}
		if i := slices.IndexFunc(t.Derived(), func(d string) bool { return !slices.Contains(derived, d) }); i >= 0 {
			c.Mistake(at.In(name), t.Derived()[i]+" is not known "+of, instead)
		}
		m := member{name: name, template: t}
		if parts := t.Parts(); len(parts) == 1 && parts[0].IsVariable() && len(parts[0].Funcs) == 0 {
			m.path = parts[0].Path
		}
		list = append(list, m)
	}
	return list
}

// Name is what the control item and metrics call the migration.
func (m *Mapping) Name() string { return m.spec.Name }

// Pipeline returns the pipeline whose events the rows become.
func (m *Mapping) Pipeline() *pipeline.Pipeline { return m.pipeline }

// Digest returns what tells this mapping from every other one.
func (m *Mapping) Digest() string { return m.digest }

// Types lists the event types that rows become, by name.
func (m *Mapping) Types() []string { return slices.Clone(m.types) }

// From returns the name of the old table. If the file names it by a variable, getenv gives its
// value. The error names a variable that is not set.
func (m *Mapping) From(getenv func(string) string) (string, error) {
	name := m.spec.From.Table
	variable, ok := strings.CutPrefix(name, "${")
	if !ok {
		return name, nil
	}
	variable = strings.TrimSuffix(variable, "}")
	if name = getenv(variable); name == "" {
		return "", fmt.Errorf("migration.yaml names the old table by %s, which is not set", variable)
	}
	return name, nil
}

// Becomes reports whether rows become events of a type, or parts of one.
func (m *Mapping) Becomes(typ string) bool {
	return m.becomes[typ]
}
