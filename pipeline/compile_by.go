package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// by compiles the grouping, in byte order of names. It refuses two values under one name. They
// would need a # between them, and then the values of two names could run into each other.
func (c *compiler) by(at place, def *aggregate.Definition, templates map[string]string) []*keys.Template {
	var list []*keys.Template
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		p := at.In(name)
		c.memberName(p, name)
		t, ok := c.parseTemplate(p, templates[name], "id", "at", "type", "source", "digest", "attribute.")
		if !ok {
			continue
		}
		variables, literals := 0, ""
		for _, part := range t.Parts() {
			if literals += part.Literal; part.IsVariable() {
				variables++
			}
		}
		switch {
		case variables > 1:
			c.Mistake(p, fmt.Sprintf("%s has %d values, and each name of by has one", name, variables), "by: "+apart(templates))
		case strings.ContainsAny(literals, "#%"):
			c.Mistake(p, name+" has # or % in its text, which keeps the values of by apart", "it without # and %")
		}
		def.By, list = append(def.By, name), append(list, t)
	}
	return list
}

// apart returns the same by with a name of its own for each value, as it is written in the file. A
// value that comes twice is named once. A template under no name is named by its variables. It
// returns "" if there is no value.
func apart(templates map[string]string) string {
	whole, named := map[string]string{}, map[string]bool{}
	add := func(name, value string) {
		if named[value] {
			return
		}
		named[value] = true
		name = strings.Trim(strings.Map(func(r rune) rune {
			if r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToLower(name)), "_0123456789")
		if name == "" || isReservedValue(name) || len(name) > maxMemberName {
			name = "part"
		}
		unique := name
		for i := 2; whole[unique] != ""; i++ {
			unique = fmt.Sprintf("%s_%d", name, i)
		}
		whole[unique] = value
	}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		t, err := keys.ParseTemplate(templates[name])
		if err != nil {
			continue // it is reported by itself
		}
		variables := slices.DeleteFunc(slices.Clone(t.Parts()), func(p keys.Part) bool { return !p.IsVariable() })
		if len(variables) < 2 && name != "" {
			add(name, t.Text())
			continue
		}
		for _, part := range variables {
			add(part.Variable(), part.Canonical())
		}
	}
	if len(whole) == 0 {
		return ""
	}
	list := make([]string, 0, len(whole))
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		list = append(list, name+": "+event.Quote(whole[name]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}
