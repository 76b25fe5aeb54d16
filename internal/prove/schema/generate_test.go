// Package schema generates pipeline.schema.json, the JSON Schema of pipeline.yaml for editors, out
// of the tags and the comments of package pipeline's Spec. It is a test alone: what runs needs no
// schema.
package schema

//go:generate go test -run TestSchemaIsCommitted -update .

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// schemaNode is the part of JSON Schema draft-07 that the file format needs, in the order it is
// printed.
type schemaNode struct {
	Schema      string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Not         *schemaNode            `json:"not,omitempty"`
	AnyOf       []*schemaNode          `json:"anyOf,omitempty"`
	Type        string                 `json:"type,omitempty"`
	Const       any                    `json:"const,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Format      string                 `json:"format,omitempty"`
	Pattern     string                 `json:"pattern,omitempty"`
	Minimum     int64                  `json:"minimum,omitempty"`
	Maximum     int64                  `json:"maximum,omitempty"`
	MinLength   int                    `json:"minLength,omitempty"`
	Required    []string               `json:"required,omitempty"`
	Properties  map[string]*schemaNode `json:"properties,omitempty"`
	Names       *schemaNode            `json:"propertyNames,omitempty"`
	MinMembers  int                    `json:"minProperties,omitempty"`
	// Others is false, or the schema of members that Properties does not name.
	Others any         `json:"additionalProperties,omitempty"`
	Items  *schemaNode `json:"items,omitempty"`
	Least  int         `json:"minItems,omitempty"`
}

// generate makes the JSON Schema (draft-07). It checks names and kinds; `ingot check` checks
// everything.
func generate(t *testing.T) []byte {
	t.Helper()
	root := comments(t).schemaOf(reflect.TypeFor[pipeline.Spec]())
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", "Ingot pipeline"
	root.Properties["ingot"].Const = pipeline.Format
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.Succeed(t, e.Encode(root))
	return b.Bytes()
}

// descriptions are the comments of fields, by "Type.Field".
type descriptions map[string]string

// comments reads them.
func comments(t *testing.T) descriptions {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../pipeline/spec.go", nil, parser.ParseComments)
	must.Succeed(t, err)
	d := descriptions{}
	ast.Inspect(file, func(n ast.Node) bool {
		declared, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		for _, field := range declared.Type.(*ast.StructType).Fields.List {
			name := declared.Name.Name + "." + field.Names[0].Name
			if d[name] = strings.Join(strings.Fields(field.Doc.Text()), " "); d[name] == "" {
				t.Errorf("pipeline.%s has no comment, which would be its description in the schema", name)
			}
		}
		return false
	})
	return d
}

func (d descriptions) schemaOf(t reflect.Type) *schemaNode {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return &schemaNode{Type: "string", Pattern: "^0*[1-9][0-9]*[smhdw]$"}
	case t == reflect.TypeFor[time.Time]():
		return &schemaNode{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[event.Decimal]():
		return &schemaNode{AnyOf: []*schemaNode{{Type: "number"},
			{Type: "string", Pattern: `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`}}}
	case t.Kind() == reflect.Struct:
		return d.schemaOfStruct(t)
	case t.Kind() == reflect.Map:
		return &schemaNode{Type: "object", Others: d.schemaOf(t.Elem())}
	case t.Kind() == reflect.Slice:
		return &schemaNode{Type: "array", Items: d.schemaOf(t.Elem())}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return &schemaNode{Type: "integer"}
	case t.Kind() == reflect.Bool:
		return &schemaNode{Type: "boolean"}
	case t.Kind() == reflect.String:
		return &schemaNode{Type: "string", MinLength: 1}
	}
	return &schemaNode{Not: &schemaNode{}} // reserved: no value is valid
}

func (d descriptions) schemaOfStruct(t reflect.Type) *schemaNode {
	s := &schemaNode{Type: "object", Properties: map[string]*schemaNode{}, Others: false}
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("yaml")
		member := d.schemaOf(f.Type)
		if names := f.Tag.Get("entry"); names != "" {
			member.Others = d.schemaOfValue(strings.Split(names, ","))
		}
		if f.Tag.Get("calendar") == "yes" {
			member.Pattern = "^(0*[1-9][0-9]*[smhdw]|1mo|1y)$"
		}
		if f.Tag.Get("size") == "yes" {
			member = &schemaNode{Type: "string", Pattern: "^0*[1-9][0-9]*KB$"}
		}
		if f.Tag.Get("list") == "yes" {
			member = &schemaNode{AnyOf: []*schemaNode{member, {Type: "array", Items: member, Least: 1}}}
		}
		if f.Tag.Get("all") != "" {
			member = &schemaNode{AnyOf: []*schemaNode{{Type: "boolean"}, member}}
		}
		if f.Tag.Get("named") == "yes" {
			member = &schemaNode{AnyOf: []*schemaNode{member, {Type: "object", Others: d.schemaOf(f.Type.Elem())}}}
		}
		member.Description = d[t.Name()+"."+f.Name]
		if values := f.Tag.Get("enum"); values != "" {
			member.Enum, member.MinLength = strings.Split(values, ","), 0
		}
		if pattern := f.Tag.Get("keys"); pattern != "" {
			member.Names = &schemaNode{Pattern: pattern}
		}
		if member.Type != "string" {
			member.Minimum, member.Maximum = number(f.Tag.Get("min")), number(f.Tag.Get("max"))
		}
		if f.Tag.Get("need") == "yes" {
			s.Required = append(s.Required, name)
			if f.Type.Kind() == reflect.Map {
				member.MinMembers = 1
			}
		}
		s.Properties[name] = member
	}
	return s
}

// schemaOfValue is the schema of one value: an expression, or a mapping that says the same.
func (d descriptions) schemaOfValue(names []string) *schemaNode {
	text := d.schemaOf(reflect.TypeFor[string]())
	members := map[string]*schemaNode{}
	for _, name := range names {
		members[name] = text
	}
	members["count"] = &schemaNode{Const: true}
	members["sum"] = &schemaNode{AnyOf: []*schemaNode{text, {Type: "number"}}}
	return &schemaNode{AnyOf: []*schemaNode{text, {Type: "object", Properties: members, Others: false}}}
}

// number reads a limit out of a tag; 0 where there is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
