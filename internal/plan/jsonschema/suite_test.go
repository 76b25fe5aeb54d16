package jsonschema

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// suite returns the tests of draft 2020-12 of the JSON Schema Test Suite, by file
// (https://github.com/json-schema-org/JSON-Schema-Test-Suite, MIT licence).
func suite(t *testing.T) event.Node {
	t.Helper()
	file, err := os.Open("testdata/suite.json.gz")
	must.Succeed(t, err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	must.Succeed(t, err)
	text, err := io.ReadAll(unpacked)
	must.Succeed(t, err)
	doc, err := event.ParseDocument(string(text))
	must.Succeed(t, err)
	return doc.Root()
}

// The official tests agree with every schema that Compile takes. Those that it refuses are known by
// file, and by what they need.
func TestSuite(t *testing.T) {
	taken, refused := map[string]int{}, map[string]int{}
	checks := 0
	for file, groups := range suite(t).Members() {
		for group := range groups.Elements() {
			about := file + ": " + group.Member("description").Text()
			s, bad := Compile(group.Member("schema").Raw())
			if bad != nil {
				refused[file]++
				if refusedOfSuite[file] == 0 {
					t.Errorf("%s: %s", about, bad)
				}
				continue
			}
			taken[file]++
			for one := range group.Member("tests").Elements() {
				checks++
				findings, ok := s.Check(one.Member("data"))
				if want := one.Member("valid").Text() == "true"; !ok || want != (len(findings) == 0) {
					t.Errorf("%s: %s: ok %v, findings %v, want valid %v", about, one.Member("description").Text(), ok, findings, want)
				}
			}
		}
	}
	for file, want := range refusedOfSuite {
		must.Equal(t, refused[file], want, file)
	}
	if checks < 1000 {
		t.Errorf("%d checks were made, and the suite has over 1,000", checks)
	}
}

// refusedOfSuite says how many schemas of each file are refused: they refer to other files, have an
// $id below the root or another vocabulary, or refer dynamically.
var refusedOfSuite = map[string]int{
	"anchor": 3, "defs": 1, "dynamicRef": 20, "ref": 12, "refRemote": 15, "unevaluatedItems": 1, "unevaluatedProperties": 1,
	"vocabulary": 2,
}
