package command

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

// FieldsHelp is for the long help of commands that take fields of an event.
const FieldsHelp = `FIELD=VALUE gives a field of the payload as text. A field inside an object has a point, as in customer.id=c-1,
an element of an array its number, as in 'items[0].sku=A-1', and an odd name stands in quotes, as in '["a b"]=c'.
FIELD:=JSON gives the value as JSON. FIELD=@- reads it from standard input, so that a personal value does not end up
in the shell's history.`

// RevealUsage is the usage of --reveal. Those values are personal that pipeline.yaml hashes.
const RevealUsage = "show personal values, which are masked otherwise"

// Field is one FIELD=VALUE of the command line.
type Field struct {
	Name, Text string
	JSON       bool // it is FIELD:=JSON, and text is valid JSON
	stdin      bool // the value came from standard input
}

// Fields reads FIELD=VALUE words. At most one value comes from standard input.
func (a *App) Fields(words []string) ([]Field, error) {
	var list []Field
	stdin := ""
	for _, word := range words {
		name, text, ok := fields.Cut(word)
		f := Field{Name: strings.TrimSuffix(name, ":"), Text: text, JSON: strings.HasSuffix(name, ":")}
		if !ok {
			return nil, cli.Usagef("%q: write FIELD=VALUE, such as order_id=o-1", word)
		}
		if !f.JSON && text == "@-" {
			if stdin != "" {
				return nil, cli.Usagef("standard input cannot give both %s and %s: give one of them in the command line", stdin, f.Name)
			}
			stdin = f.Name
			all, err := io.ReadAll(io.LimitReader(a.Stdin, MaxInput))
			if err != nil {
				return nil, fmt.Errorf("%s from standard input: %w", f.Name, err)
			}
			f.Text, f.stdin = strings.TrimRight(string(all), "\r\n"), true
		}
		if f.JSON {
			if _, err := event.ParseDocument(text); err != nil {
				return nil, cli.Usagef("%q: the value after := is not JSON: %w", word, err)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// PayloadFields makes a payload of FIELD=VALUE.
func (a *App) PayloadFields(words []string) (map[string]any, error) {
	all, _, err := a.NamedFields(words)
	return all, err
}

// NamedFields makes a payload of FIELD=VALUE, and returns the names of the fields as they were
// written.
func (a *App) NamedFields(words []string) (all map[string]any, names []string, err error) {
	list, err := a.Fields(words)
	if err != nil {
		return nil, nil, err
	}
	all = map[string]any{}
	for _, f := range list {
		names = append(names, f.Name)
		var value any = f.Text
		if f.JSON {
			value = json.RawMessage(f.Text)
		}
		if err := fields.Set(all, f.Name, value); err != nil {
			return nil, nil, cli.Usagef("%q: %w", f.Name, err)
		}
	}
	return all, names, nil
}

// QuestionValues makes the values of a question of FIELD=VALUE. A field may have several values,
// separated by commas, and may be given more than once.
func (a *App) QuestionValues(words []string) (map[string][]string, error) {
	list, err := a.Fields(words)
	if err != nil {
		return nil, err
	}
	values := map[string][]string{}
	for _, f := range list {
		switch {
		case f.JSON:
			return nil, cli.Usagef("%s: a question has its values as text: write %s=VALUE", f.Name, f.Name)
		case f.stdin:
			values[f.Name] = append(values[f.Name], f.Text)
		default:
			values[f.Name] = append(values[f.Name], Commas(f.Text)...)
		}
	}
	return values, nil
}

// Commas splits text at commas. A comma after a backslash is a part of a value.
func Commas(text string) []string {
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

// Lacks does what wrong does. If a field is missing, it also leaves out the place in pipeline.yaml.
func Lacks(err error) string {
	text := show.Refusal(err)
	if i := strings.LastIndex(text, ": field "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// Payload writes fields as the text of a payload.
func Payload(fields map[string]any) string {
	text, _ := json.Marshal(fields) // cannot fail: it holds texts and JSON that was parsed
	return string(text)
}
