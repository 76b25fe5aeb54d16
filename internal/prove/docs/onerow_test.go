package docs

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// onerow uses what TestOneRow adds, and knows no name of it but those that a user writes.
const onerow = `package main

import (
	"fmt"
	"testing/fstest"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/pipeline"
)

func load(id, kind, name string) (*pipeline.Pipeline, error) {
	return pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(fmt.Sprintf(` + "`" + `ingot: 1
epoch: 1
type: "%s"
events:
  %s:
    id: "{order_id}"
    at: "{placed_at}"
    key: {pk: "ORDER#%s", sk: "{order_id}"}
` + "`" + `, kind, name, id))}}, "pipeline.yaml")
}

func main() {
	p, err := load("{order_id | sha1}", "{type}", "order.placed")
	if err != nil {
		panic(err)
	}
	item, err := p.Plan(envelope.Message{
		Body: ` + "`" + `{"type":"order.placed","order_id":"abc","placed_at":"2026-01-02T03:04:05Z"}` + "`" + `})
	if err != nil {
		panic(err)
	}
	fmt.Println(item.Key.PK)
	_, err = load("{order_id | sha2}", "{type}", "order.placed")
	fmt.Println(err)
	_, err = load("{order_id}", "{type | sha1}", "a9993e364706816aba3e25717850c26c9cd0d89d")
	fmt.Println("by its hash:", err)
	v, ok := event.ParseVerdict("Unwanted")
	fmt.Println(v, ok, v.Means(), v.Stored(), v.Quarantined(), event.Poison.Outweighs(v), v.Outweighs(event.Inserted))
	for _, m := range function.IngestMetrics() {
		if m.Name == v.String() {
			fmt.Println(m.Name, m.About)
		}
	}
}
`

// A template function and a verdict are told whole by their rows: a program with one more of each,
// built without a change to any other file, plans with it, names it in its advice, and counts it
// in a metric of its own.
func TestOneRow(t *testing.T) {
	dir := t.TempDir()
	replace := map[string]string{}
	lay := func(name, text string) {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		must.Write(t, file, text)
		at, err := filepath.Abs(filepath.Join(root, name))
		must.Succeed(t, err)
		replace[at] = file
	}
	add := func(name string, pairs ...string) {
		text := read(t, name)
		for i := 0; i < len(pairs); i += 2 {
			must.Equal(t, strings.Count(text, pairs[i]), 1)
			text = strings.Replace(text, pairs[i], pairs[i+1]+pairs[i], 1)
		}
		lay(name, text)
	}
	add("event/verdict.go",
		"\t// Retry means that nothing is proven.", "\tUnwanted\n",
		"\tRetry:     {", "\tUnwanted: {\"Unwanted\", \"nobody wants it\", stored, 0, -5, false},\n")
	add("keys/functions.go",
		"\t\t{Name: \"lower\"", "\t\t{Name: \"sha1\", Does: \"SHA-1 in lower-case hex\", Hash: true, digits: 40, "+
			"run: sum1, shape: ofHex(40)},\n",
		"// timely is a function", "func sum1(dst []byte, from, _ int, _ *Source) ([]byte, error) {\n"+
			"\treturn fmt.Appendf(dst[:from], \"%x\", sha1.Sum(dst[from:])), nil\n}\n\n",
		"\t\"fmt\"\n", "\t\"crypto/sha1\"\n")
	lay("onerow/main.go", onerow)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must.Succeed(t, err)
	must.Write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	must.Say(t, run(t, root, "go", "run", "-overlay", filepath.Join(dir, "overlay.json"), "./onerow"),
		"ORDER#a9993e364706816aba3e25717850c26c9cd0d89d\n", // RFC 3174
		"by its hash: <nil>",
		"sha1, ", // the advice for sha2 lists it
		"Unwanted true nobody wants it true false true false\n",
		"Unwanted nobody wants it\n")
}
