package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
)

// maxFile is how many bytes a file and its schemas may take together: what is read again as one
// file.
const maxFile = 1 << 20

// isSchemaText reports whether a member schema is the schema itself, and not a path.
func isSchemaText(s string) bool { return strings.HasPrefix(s, "{") }

// withSchemas puts the text of each schema in the place of its path, in spec and in the text of the
// file, which it returns.
func withSchemas(r *report, fsys fs.FS, spec *Spec, text []byte) []byte {
	type change struct {
		at    position
		old   int // runes
		value string
	}
	var list []change
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		s, p := spec.Events[name], place("events").In(name).In("schema")
		if s.Schema == "" || isSchemaText(s.Schema) || r.IsBroken(p) {
			continue
		}
		line, ok := readSchema(r, fsys, p, s.Schema)
		at := r.Values[p]
		if ok && !at.Verbatim {
			r.Mistake(p, "the path of a schema must be on one line and without escapes", "schemas/"+"order.json")
			ok = false
		}
		if !ok {
			r.Broken[p] = true
			continue
		}
		list = append(list, change{at, utf8.RuneCountInString(s.Schema) + 2*at.Inset, "'" + strings.ReplaceAll(line, "'", "''") + "'"})
		s.Schema = line
		spec.Events[name] = s
	}
	if len(list) == 0 {
		return text
	}
	// From the end, so that what is put in moves no place that is still to come.
	slices.SortFunc(list, func(a, b change) int { return -a.at.Compare(b.at) })
	lines := strings.SplitAfter(string(text), "\n")
	for _, c := range list {
		runes := []rune(lines[c.at.Line-1])
		lines[c.at.Line-1] = string(runes[:c.at.Column-1]) + c.value + string(runes[c.at.Column-1+c.old:])
	}
	full := strings.Join(lines, "")
	if len(full) > maxFile {
		r.Mistake("events", fmt.Sprintf("the file and its schemas take %d bytes, and at most %d are read", len(full), maxFile),
			"smaller schemas")
	}
	return []byte(full)
}

// SchemaFiles returns the files that the text of a file names as schemas, by event type. They are
// paths from its folder down. What is wrong with the text is for [Load] to say.
func SchemaFiles(text []byte) map[string]string {
	files := map[string]string{}
	for name, s := range decode(text, declare.NewReport("")).Events {
		if s.Schema != "" && !isSchemaText(s.Schema) {
			files[name] = s.Schema
		}
	}
	return files
}

// readSchema reads a file of a schema and returns it in one line.
func readSchema(r *report, fsys fs.FS, p place, name string) (line string, ok bool) {
	const instead = "the path of a file in or below the folder of the pipeline, such as schemas/order.json"
	if !fs.ValidPath(name) {
		r.Mistake(p, fmt.Sprintf("%q is not a path from the folder of the pipeline down", name), instead)
		return "", false
	}
	text, err := fs.ReadFile(fsys, path.Join(path.Dir(filepath.ToSlash(r.File)), name))
	if err != nil {
		what := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			what = "there is no such file; a program that embeds the pipeline must embed its schemas too, as in //go:embed " +
				"pipeline.yaml schemas"
		}
		r.Mistake(p, fmt.Sprintf("the schema %s cannot be read: %s", name, what), instead)
		return "", false
	}
	if _, bad := event.ParseDocument(string(text)); bad != nil {
		r.Mistake(p, fmt.Sprintf("the schema %s is not JSON: %s", name, bad), "a file that holds a JSON Schema")
		return "", false
	}
	var short bytes.Buffer
	_ = json.Compact(&short, text) // it is JSON
	if line = short.String(); !isSchemaText(line) {
		r.Mistake(p, fmt.Sprintf("the schema %s is not an object", name), "a file that holds a JSON object")
		return "", false
	}
	return line, true
}

// schemas compiles the schemas of all event types.
func (c *compiler) schemas() {
	for _, name := range c.p.plan.Names {
		p := place("events").In(name).In("schema")
		text := c.spec.Events[name].Schema
		switch {
		case text == "" || c.IsBroken(p):
			continue
		case !isSchemaText(text):
			c.Mistake(p, "schema is a path, and only a file can name one", "the text of the schema")
			continue
		}
		s, bad := jsonschema.Compile(text)
		if bad != nil {
			c.Mistake(p, "in the schema, at "+bad.Where+": "+bad.What, bad.Instead)
			continue
		}
		c.p.plan.Types[name].Schema = s.Check
	}
}
