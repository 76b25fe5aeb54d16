package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// These are the properties with the indexes of a table.
const (
	global = "GlobalSecondaryIndexes"
	local  = "LocalSecondaryIndexes"
)

// index is an index of a table.
type index struct {
	name         *template.Node // a scalar
	node, schema *template.Node // schema: nil if there is none
}

// indexesOf returns the indexes of one kind that a table has. doubts are what only a deployment
// knows: the list, or an index whose name it does not show.
func (c *Checker) indexesOf(table *template.Resource, kind string) (indexes []index, doubts []*template.Node) {
	list := c.t.Property(table, kind)
	if list != nil && list.Kind != template.List {
		return nil, []*template.Node{list}
	}
	for _, item := range c.t.Items(list) {
		name := c.t.Get(item, "IndexName")
		if name == nil || name.Kind != template.Scalar {
			doubts = append(doubts, item)
			continue
		}
		indexes = append(indexes, index{name, item, c.t.Get(item, "KeySchema")})
	}
	return indexes, doubts
}

// schema returns the two attribute names of a KeySchema. ok is false if they cannot be determined.
func (c *Checker) schema(n *template.Node) (hash, sort string, ok bool) {
	if n == nil {
		return "nothing", "", true
	}
	if n.Kind != template.List {
		return "", "", false
	}
	hash = "nothing"
	for _, item := range n.Items {
		name, kind := c.t.Get(item, "AttributeName"), c.t.Get(item, "KeyType")
		if name == nil || kind == nil || name.Kind != template.Scalar || kind.Kind != template.Scalar {
			return "", "", false
		}
		if kind.Text == "HASH" {
			hash = name.Text
		} else {
			sort = name.Text
		}
	}
	return hash, sort, true
}

// key says what a key must be.
type key struct {
	of             *template.Resource // the table
	rule           string
	schema         *template.Node
	at             template.Position // of what lacks the schema
	hash, sort     string            // the attributes that it must have
	whether, wrong string            // wrong takes the key that is there, hash and sort
}

// keyed checks a key, and reports whether it is as it must be.
func (c *Checker) keyed(k key) bool {
	hash, sort, ok := c.schema(k.schema)
	switch {
	case !ok:
		c.cannotTell(k.rule, k.schema, k.whether)
	case hash != k.hash || sort != k.sort:
		c.Mistake(k.rule, where(k.schema, k.at), fmt.Sprintf(k.wrong, pair(hash, sort), k.hash, k.sort), k.instead())
		return false
	}
	return ok
}

// instead says what the key is to be, and where it goes if there is none.
func (k key) instead() string {
	write := schemaOf(k.hash, k.sort)
	if k.schema == nil && k.rule != "table-key" { // its index has a name
		return write + " beside it"
	}
	return added(k.schema, write)
}

// tableKey checks the key of a table.
func (c *Checker) tableKey(table *template.Resource) {
	k := key{of: table, rule: "table-key", schema: c.t.Property(table, "KeySchema"), at: table.Position, hash: "PK", sort: "SK",
		whether: "the table's key is PK and SK", wrong: "the key of " + table.Name + " is %s, not %s and %s"}
	if c.keyed(k) {
		c.typed(table, k.rule, "S", allText, k.hash, k.sort)
	}
}

// schemaOf returns a key as it is written in a template.
func schemaOf(hash, sort string) string {
	return "KeySchema: [{AttributeName: " + quoted(hash) + ", KeyType: HASH}, {AttributeName: " + quoted(sort) + ", KeyType: RANGE}]"
}

// quoted returns the name of an attribute as YAML takes it.
func quoted(name string) string {
	if strings.Contains(name, ":") {
		return `"` + name + `"`
	}
	return name
}

func pair(hash, sort string) string {
	if sort == "" {
		return hash + " alone"
	}
	return hash + " and " + sort
}

const allText = ": all keys are text"

// typed checks that attributes of a table are of a type, if the table says so at all. The rule
// about attributes reports those that are not declared.
func (c *Checker) typed(table *template.Resource, rule, want, because string, names ...string) {
	for _, item := range c.t.Items(c.t.Property(table, "AttributeDefinitions")) {
		name, kind := c.t.Get(item, "AttributeName"), c.t.Get(item, "AttributeType")
		if name != nil && kind != nil && slices.Contains(names, name.Text) && kind.Kind == template.Scalar && kind.Text != want {
			c.Mistake(rule, kind.Position, fmt.Sprintf("attribute %s is of type %s%s", name.Text, kind.Text, because),
				"AttributeType: "+want)
		}
	}
}
