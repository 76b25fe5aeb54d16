package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/fields"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// fieldsHelp is for the long help of commands that take fields of an event.
const fieldsHelp = `Each FIELD=VALUE is a field of the payload, with its value as text. Write a field inside an object with a point, as
in customer.id=c-1. FIELD:=JSON gives the value as JSON. FIELD=@- reads the value from standard input, so that a
personal value does not end up in the shell's history.`

// field is one FIELD=VALUE of the command line.
type field struct {
	name, text string
	json       bool // it is FIELD:=JSON, and text is valid JSON
	stdin      bool // the value came from standard input
}

// fields reads FIELD=VALUE words. At most one value comes from standard input.
func (a *app) fields(words []string) ([]field, error) {
	var list []field
	stdin := ""
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		f := field{name: strings.TrimSuffix(name, ":"), text: text, json: strings.HasSuffix(name, ":")}
		if !ok || !fields.Valid(f.name) {
			return nil, cli.Usagef("%q: write FIELD=VALUE, such as order_id=o-1", word)
		}
		if !f.json && text == "@-" {
			if stdin != "" {
				return nil, cli.Usagef("standard input cannot give both %s and %s: give one of them in the command line", stdin, f.name)
			}
			stdin = f.name
			all, err := io.ReadAll(io.LimitReader(a.Stdin, maxInput))
			if err != nil {
				return nil, fmt.Errorf("%s from standard input: %w", f.name, err)
			}
			f.text, f.stdin = strings.TrimRight(string(all), "\r\n"), true
		}
		if f.json {
			if _, err := event.ParseDocument(text); err != nil {
				return nil, cli.Usagef("%q: the value after := is not JSON: %w", word, err)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// payloadFields makes a payload of FIELD=VALUE.
func (a *app) payloadFields(words []string) (map[string]any, error) {
	all, _, err := a.namedFields(words)
	return all, err
}

// namedFields makes a payload of FIELD=VALUE, and returns the names of the fields as they were
// written.
func (a *app) namedFields(words []string) (all map[string]any, names []string, err error) {
	list, err := a.fields(words)
	if err != nil {
		return nil, nil, err
	}
	all = map[string]any{}
	for _, f := range list {
		names = append(names, f.name)
		var value any = f.text
		if f.json {
			value = json.RawMessage(f.text)
		}
		if err := fields.Set(all, f.name, value); err != nil {
			return nil, nil, cli.Usagef("%q: %w", f.name, err)
		}
	}
	return all, names, nil
}

// questionValues makes the values of a question of FIELD=VALUE. A field may have several values,
// separated by commas, and may be given more than once.
func (a *app) questionValues(words []string) (map[string][]string, error) {
	list, err := a.fields(words)
	if err != nil {
		return nil, err
	}
	values := map[string][]string{}
	for _, f := range list {
		switch {
		case f.json:
			return nil, cli.Usagef("%s: a question has its values as text: write %s=VALUE", f.name, f.name)
		case f.stdin:
			values[f.name] = append(values[f.name], f.text)
		default:
			values[f.name] = append(values[f.name], commas(f.text)...)
		}
	}
	return values, nil
}

// commas splits text at commas. A comma after a backslash is a part of a value.
func commas(text string) []string {
	var list []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			i++
			b.WriteByte(',')
		case text[i] == ',':
			list = append(list, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(list, b.String())
}

// lacks does what wrong does. If a field is missing, it also leaves out the place in pipeline.yaml.
func lacks(err error) string {
	text := show.Refusal(err)
	if i := strings.LastIndex(text, ": field "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// payload writes fields as the text of a payload.
func payload(fields map[string]any) string {
	text, _ := json.Marshal(fields) // cannot fail: it holds texts and JSON that was parsed
	return string(text)
}
