package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// keySchema is the key of a table or of one of its indexes.
type keySchema struct {
	of    string // "EventsTable", "index GSI1"
	at    template.Position
	names []string // of its attributes
	// meant are the names that it should have, if another rule has reported that it has other
	// names.
	meant []string
}

// attributes compares AttributeDefinitions with the keys of the table and its indexes.
// CloudFormation refuses a key that is not defined, and a definition that no key uses. ranked says
// that the table needs the index of ranked totals.
func (c *Checker) attributes(table *template.Resource, ranked bool) {
	schemas, ok := c.keySchemas(table)
	defined, list, doubt := c.defined(table)
	if doubt != nil {
		c.cannotTell("attribute", doubt, "the attribute definitions of "+table.Name+" are those of its keys")
		return
	}
	var used []string
	for _, s := range schemas {
		used = slices.Concat(used, s.names, s.meant)
		if missing := lacking(s.names, defined); len(s.meant) == 0 && len(missing) > 0 {
			at := s.at
			if list != nil {
				at = list.Position
			}
			c.Mistake("attribute", at, fmt.Sprintf("AttributeDefinitions of %s lack %s, the key of %s: CloudFormation refuses the table",
				table.Name, strings.Join(missing, " and "), s.of),
				definitions(missing)+" into AttributeDefinitions")
		}
	}
	for _, name := range defined {
		if ok && !slices.Contains(used, name.Text) && !c.awaited(name.Text, ranked) {
			c.Mistake("attribute", name.Position,
				fmt.Sprintf("no key of %s or of its indexes uses attribute %s: CloudFormation refuses the table; take it out of "+
					"AttributeDefinitions", table.Name, name.Text), "")
		}
	}
}

// awaited reports whether attribute is part of the key of an index that the pipeline uses. If the
// table lacks that index, another rule reports it, and the definition is correct.
func (c *Checker) awaited(attribute string, ranked bool) bool {
	switch {
	case c.p == nil:
		return false
	case attribute == lanes.RankAttribute || attribute == lanes.ScoreAttribute:
		return ranked
	}
	return slices.ContainsFunc(c.p.Indexes(), func(index string) bool { return slices.Contains(keyNames(index), attribute) })
}

func keyNames(index string) []string { return []string{index + "PK", index + "SK"} }

// definitions returns attributes as they are written in AttributeDefinitions.
func definitions(names []string) string {
	var list []string
	for _, name := range names {
		kind := "S"
		if name == lanes.ScoreAttribute {
			kind = "N"
		}
		list = append(list, "{AttributeName: "+quoted(name)+", AttributeType: "+kind+"}")
	}
	return strings.Join(list, ", ")
}

// lacking returns the names that are not defined.
func lacking(names []string, defined []*template.Node) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return named(defined, name) })
}

// defined returns the names in AttributeDefinitions. list is the node that holds them, or nil if
// there is no list. doubt is a node that only a deployment could evaluate, or nil if there is none.
func (c *Checker) defined(table *template.Resource) (names []*template.Node, list, doubt *template.Node) {
	list = c.t.Property(table, "AttributeDefinitions")
	if list != nil && list.Kind != template.List {
		return nil, list, list
	}
	for _, item := range c.t.Items(list) {
		name := c.t.Get(item, "AttributeName")
		switch {
		case name == nil:
			return nil, list, item
		case name.Kind != template.Scalar:
			return nil, list, name
		}
		names = append(names, name)
	}
	return names, list, nil
}

// keySchemas returns the keys of a table and its indexes, as far as they can be determined. ok is
// false if some cannot.
func (c *Checker) keySchemas(table *template.Resource) (schemas []keySchema, ok bool) {
	ok = true
	if n := c.t.Property(table, "KeySchema"); n != nil {
		s, told := c.keySchema(table.Name, n, []string{"PK", "SK"})
		schemas, ok = append(schemas, s), told
	}
	for _, kind := range []string{global, local} {
		indexes, doubts := c.indexesOf(table, kind)
		ok = ok && len(doubts) == 0
		for _, i := range indexes {
			if i.schema == nil {
				ok = false
				continue
			}
			var meant []string
			if c.uses(i.name.Text) {
				meant = keyNames(i.name.Text)
			}
			s, told := c.keySchema("index "+i.name.Text, i.schema, meant)
			schemas, ok = append(schemas, s), ok && told
		}
	}
	return schemas, ok
}

// keySchema reads one key. meant is what the rules require of it; nil means that they accept
// anything.
func (c *Checker) keySchema(of string, n *template.Node, meant []string) (keySchema, bool) {
	hash, sort, ok := c.schema(n)
	s := keySchema{of: of, at: n.Position}
	for _, name := range []string{hash, sort} {
		if ok && name != "" && name != "nothing" {
			s.names = append(s.names, name)
		}
	}
	if meant != nil && !slices.Equal(s.names, meant) {
		s.meant = meant
	}
	return s, ok
}
