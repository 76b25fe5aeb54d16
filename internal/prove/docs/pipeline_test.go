package docs

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

const pipelinePage = "docs/pipeline.md"

var fieldsMark = regexp.MustCompile(`<!-- fields: (\w+) -->`)

// specsIn adds every struct of package pipeline that a file is made of.
func specsIn(of reflect.Type, specs map[string]reflect.Type) {
	switch of.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		specsIn(of.Elem(), specs)
	case reflect.Struct:
		if of.PkgPath() == reflect.TypeFor[pipeline.Spec]().PkgPath() && specs[of.Name()] == nil {
			specs[of.Name()] = of
			for _, field := range reflect.VisibleFields(of) {
				specsIn(field.Type, specs)
			}
		}
	}
}

// TestEveryFieldIsDocumented shows that the reference documents every field of the file, and no
// other, and says of each whether it is required.
func TestEveryFieldIsDocumented(t *testing.T) {
	specs, pages := map[string]reflect.Type{}, map[string]string{}
	specsIn(reflect.TypeFor[pipeline.Spec](), specs)
	for _, page := range documents(t) {
		for _, mark := range fieldsMark.FindAllStringSubmatch(read(t, page), -1) {
			if specs[mark[1]] == nil || pages[mark[1]] != "" {
				t.Errorf("%s: %s has another table, or is not of the file", page, mark[1])
			}
			pages[mark[1]] = page
		}
	}
	for name, of := range specs {
		if pages[name] == "" {
			t.Errorf("no page has a table of the fields of %s", name)
			continue
		}
		documented := map[string]string{}
		for _, row := range table(t, pages[name], "fields: "+name) {
			documented[code(row[0])] = row[1]
			if len(row) != 3 || len(row[2]) < 10 {
				t.Errorf("%s: the row of %s says nothing", of.Name(), row[0])
			}
		}
		for _, field := range reflect.VisibleFields(of) {
			name := field.Tag.Get("yaml")
			need, ok := documented[name]
			delete(documented, name)
			if !ok {
				t.Errorf("%s: %s is not documented", of.Name(), name)
			} else if (need == "required") != (field.Tag.Get("need") == "yes") {
				t.Errorf("%s: %s is documented as %s", of.Name(), name, need)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(documented)) {
			t.Errorf("%s: %s is documented and does not exist", of.Name(), name)
		}
	}
}

// loaded returns the pipeline of a file of the repository.
func loaded(t *testing.T, name string) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Load(os.DirFS(root), name, pipeline.Secret([]byte("key")))
	must.Succeed(t, err)
	return p
}

// sample returns the payload of the page's examples.
func sample(t *testing.T) (text string, source *keys.Source) {
	t.Helper()
	text = blocksOf(t, pipelinePage, "json sample")[0].text
	doc := parsed(t, text)
	at, err := keys.ParseTime(doc.Root().Member("placed_at").Text())
	must.Succeed(t, err)
	return text, &keys.Source{Data: doc.Root(), Type: "order.placed", At: at, HasAt: true, Secret: []byte("key")}
}

func parsed(t *testing.T, text string) event.Document {
	t.Helper()
	doc, err := event.ParseDocument(text)
	must.Succeed(t, err)
	return doc
}

// checkTemplate compares the documented result of a template with its actual result. A documented
// result that ends in … is cut.
func checkTemplate(t *testing.T, source *keys.Source, template, want string) *keys.Template {
	t.Helper()
	compiled, err := keys.ParseTemplate(template)
	if err != nil {
		t.Errorf("%s: %v", template, err)
		return nil
	}
	got, err := compiled.Expand(source)
	if err != nil {
		got = "missing"
	}
	if start, cut := strings.CutSuffix(want, "…"); got != want && (!cut || start == "" || !strings.HasPrefix(got, start)) {
		t.Errorf("%s makes %s, and the page says %s", template, got, want)
	}
	return compiled
}

func TestTemplateExamples(t *testing.T) {
	_, source := sample(t)
	for _, row := range table(t, pipelinePage, "templates") {
		checkTemplate(t, source, code(row[0]), code(row[1]))
	}
}

// TestEveryFunctionIsDocumented shows that every function is documented with an example that is
// true.
func TestEveryFunctionIsDocumented(t *testing.T) {
	_, source := sample(t)
	documented := map[string]string{}
	for _, row := range table(t, pipelinePage, "functions") {
		name, _, _ := strings.Cut(strings.Trim(strings.Split(row[0], ",")[0], "`"), ":")
		compiled := checkTemplate(t, source, code(row[2]), code(row[3]))
		if compiled == nil {
			continue
		}
		funcs := compiled.Parts()[0].Funcs
		if !slices.ContainsFunc(funcs, func(f keys.Func) bool { return f.Name == name }) {
			t.Errorf("%s: its example %s does not use it", name, row[2])
		}
		documented[name] = row[0] + " " + row[4]
	}
	for _, f := range keys.Functions() {
		want, loses := "`"+f.Name, " no"
		switch f.Arg {
		case "":
			want += "`"
		case "N":
			want += ":N`"
		case "N:SEP?":
			want += ":N`, `" + f.Name + ":N:SEP`"
		case "LABEL?", "SEP?":
			want += "`, `" + f.Name + ":" + strings.TrimSuffix(f.Arg, "?") + "`"
		default:
			want, loses = want+"`, `"+f.Name+":N`", " with N"
		}
		if f.Lossy {
			loses = " yes"
		}
		must.Equal(t, documented[f.Name], want+loses, f.Name)
		delete(documented, f.Name)
	}
	for name := range documented {
		t.Errorf("%s is documented and is not a function", name)
	}
}

// TestConditionExamples compares the documented answer of each condition with what it decides.
func TestConditionExamples(t *testing.T) {
	text, _ := sample(t)
	for _, row := range table(t, pipelinePage, "conditions") {
		p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "order.placed",
			Events: map[string]pipeline.EventSpec{"order.placed": {ID: "{order_id}", At: "{placed_at}",
				Key: pipeline.KeySpec{PK: "{order_id}", SK: "-"}}},
			Aggregates: map[string]pipeline.AggregateSpec{"orders": {Since: 1, From: map[string]pipeline.FromSpec{
				"order.placed": {Where: code(row[0]), Values: map[string]string{"orders": "count"}}}}}})
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		item, err := p.Plan(envelope.Message{Body: text})
		must.Succeed(t, err)
		must.Equal(t, fmt.Sprint(len(p.Contributions(item).List) == 1), row[1], row[0])
	}
}

// TestPipelinesInDocumentsLoad shows that every pipeline in a document compiles.
func TestPipelinesInDocumentsLoad(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		for _, b := range blocks(t, name) {
			// TestABadDay of cmd/ingot adds what is to be added below events.
			if kind, is := strings.CutPrefix(b.info, "yaml"); is && !slices.Contains([]string{" add below events:", " pipeline",
				" mistaken", " template", " prices", " pattern", " migration", " publish"}, kind) {
				t.Errorf("%s:%d: a block of %q is not tested; mark it as yaml pipeline and make it complete", name, b.line, b.info)
			}
			if b.info != "yaml pipeline" {
				continue
			}
			found++
			files := fstest.MapFS{"pipeline.yaml": {Data: []byte(b.text)}}
			if _, err := pipeline.Load(files, "pipeline.yaml", pipeline.Secret([]byte("key"))); err != nil {
				t.Errorf("%s:%d: %v", name, b.line, err)
			}
		}
	}
	if found == 0 {
		t.Error("no document shows a pipeline")
	}
}

// TestMistakesAreShownAsTheyAre shows that the mistakes on the page are those that its file has.
func TestMistakesAreShownAsTheyAre(t *testing.T) {
	text, want := blocksOf(t, pipelinePage, "yaml mistaken")[0].text, blocksOf(t, pipelinePage, "text mistakes")[0].text
	_, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(text)}}, "pipeline.yaml")
	if err == nil || err.Error()+"\n" != want {
		t.Errorf("the file's mistakes are\n%v\nand the page says\n%s", err, want)
	}
}
