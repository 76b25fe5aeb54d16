package pipeline

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// schemaNode is the part of JSON Schema draft-07 that the file format needs, in the order it is printed.
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

// Schema is the JSON Schema (draft-07) of pipeline.yaml for editors, generated from Spec. It checks names
// and kinds; `ingot check` checks everything.
func Schema() []byte {
	root := schemaOf(reflect.TypeFor[Spec]())
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", "Ingot pipeline"
	root.Properties["ingot"].Const = Format
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic("pipeline: schema: " + err.Error()) // cannot be: strings and numbers alone
	}
	return b.Bytes()
}

func schemaOf(t reflect.Type) *schemaNode {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return &schemaNode{Type: "string", Pattern: "^0*[1-9][0-9]*[smhdw]$"}
	case t == reflect.TypeFor[time.Time]():
		return &schemaNode{Type: "string", Format: "date-time"}
	case t.Kind() == reflect.Struct:
		return schemaOfStruct(t)
	case t.Kind() == reflect.Map:
		return &schemaNode{Type: "object", Others: schemaOf(t.Elem())}
	case t.Kind() == reflect.Slice:
		return &schemaNode{Type: "array", Items: schemaOf(t.Elem())}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return &schemaNode{Type: "integer"}
	case t.Kind() == reflect.String:
		return &schemaNode{Type: "string", MinLength: 1}
	}
	return &schemaNode{Not: &schemaNode{}} // reserved: no value is valid
}

func schemaOfStruct(t reflect.Type) *schemaNode {
	s := &schemaNode{Type: "object", Properties: map[string]*schemaNode{}, Others: false}
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("yaml")
		member := schemaOf(f.Type)
		if f.Tag.Get("entry") == "value" {
			member.Others = schemaOfValue()
		}
		if f.Tag.Get("list") == "yes" {
			member = &schemaNode{AnyOf: []*schemaNode{member, {Type: "array", Items: member, Least: 1}}}
		}
		member.Description = f.Tag.Get("doc")
		if values := f.Tag.Get("enum"); values != "" {
			member.Enum, member.MinLength = strings.Split(values, ","), 0
		}
		if pattern := f.Tag.Get("keys"); pattern != "" {
			member.Names = &schemaNode{Pattern: pattern}
		}
		member.Minimum = number(f.Tag.Get("min"))
		member.Maximum = number(f.Tag.Get("max"))
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
func schemaOfValue() *schemaNode {
	text := schemaOf(reflect.TypeFor[string]())
	members := map[string]*schemaNode{}
	for _, name := range valueMembers {
		members[name] = text
	}
	members["count"] = &schemaNode{Const: true}
	return &schemaNode{AnyOf: []*schemaNode{text, {Type: "object", Properties: members, Others: false}}}
}

// number reads a limit out of a tag; 0 where there is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
