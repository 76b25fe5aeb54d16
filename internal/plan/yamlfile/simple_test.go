package yamlfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestPipelinesAreSimple shows that the files of this repository are read without the parser, and
// that the parser gives the same nodes.
func TestPipelinesAreSimple(t *testing.T) {
	files := []string{"../../../pipeline.yaml", "../../tool/scaffold/files/pipeline.yaml", "../../../examples/shop/pipeline.yaml",
		"../../tool/demo/data/earthquakes.yaml"}
	for _, name := range files {
		text := must.Read(t, name)
		if simple(string(text)) == nil {
			t.Errorf("%s is left to the parser", name)
		}
		sameNodes(t, string(text))
	}
}

// TestEveryFileIsReadAlike reads each YAML file of the repository in both ways, and compares the
// nodes.
func TestEveryFileIsReadAlike(t *testing.T) {
	read := 0
	err := filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		text, err := os.ReadFile(name)
		if sameNodes(t, string(normal(text))) {
			read++
		}
		return err
	})
	if err != nil || read < 10 {
		t.Errorf("%d files are simple: %v", read, err)
	}
}

// sameNodes checks that the parser gives the same nodes as simple. It returns whether the text is
// simple.
func sameNodes(t *testing.T, text string) bool {
	t.Helper()
	got := simple(text)
	if got == nil {
		return false
	}
	file, fault := parseAny([]byte(text))
	switch {
	case fault != nil:
		t.Errorf("%q:\nis simple, and the parser refuses it: %+v", text, fault)
	case file.Second != nil || !reflect.DeepEqual(got, file.Root):
		t.Errorf("%q:\nsimple: %s\nparser: %s", text, show(got), show(file.Root))
	}
	return true
}

// simpleTexts are simple. Each has something that could be read in two ways.
var simpleTexts = []string{
	"a: 1",
	"a: b # c\n\n  # d\ne:\n\n    # f\n    g: h\n  # i\nj: true",
	"a: {b: [c, 'd # e', \"{f}\"], g: {h: 0}} # i\n",
	"a: it's 5 > 4 & \"b\" | c - d * e % f @ g = `h`\n",
	"a: {b: it's 5 > 4 & \"b\" | c - d * e % f @ g = `h` , i: refund }\n",
	"a:   # b\n  c: 90d\n  d: y\n  e: sum -f\na: again\n",
	"a: 123456789012345678901234567890x\nb: 9223372036854775808\nc: 1 2\nd: 5m\n",
	"a: ''\nb: \"\"\nc: \"'\"\nd: '\"'\n",
	"a: \"b\"\n# \u00e4\u20ac \u201e\u201c ! * & \\\nc: d",
	"a.b_c: e.f_g\n",
}

// oddTexts are left to the parser.
var oddTexts = []string{
	"", "#", " a: 1", "a", "a:", "a: b: c", "a:b", "- a", "a:\n- b", "a:\n  - b", "a: 01", "a: 1.5", "a: 0x1", "a: 1_0", "a: null",
	"a: ~", "null: a",
	"true: a", "a: {b: }", "a: {b}", "a: {}", "a: []", "a: [b,]", "a: {b: c", "a: [b: c]", "a: !b c", "a: &b c", "a: *b", "a: |\n  b",
	"a: >\n  b",
	"a: b\n  c", "a: b\n  c: d", "a:\n    b: c\n  d: e", "a: \"\\n\"", "a: 'b''c'", "a: \"b\nc\"", "a: 'b'#c", "a: b#c", "'a': b",
	"? a", "<<: a",
	"---\na: b", "a: b\n---\nc: d", "a: b\n...", "a:\tb", "a: b\t", "a: \u00e4", "\"a\": b", "a: {b: c} d", "a: 'b' c", "a : b",
	"a: @b", "a: `b",
	"a: -1", "a: .inf", "a: \x00", "a: b\x7f", "a: b\rc: d", "a:\n b: c\nd: {\n e: f}", "a: {\"b\": c}", "a: b\n c", "5: a", "a: b?",
	"a: 0  ", "a: b # c ", "a: [b]]", "1a: b",
}

func TestWhatIsSimple(t *testing.T) {
	for _, text := range simpleTexts {
		if !sameNodes(t, text) {
			t.Errorf("%q is left to the parser", text)
		}
	}
	for _, text := range oddTexts {
		if got := simple(text); got != nil {
			t.Errorf("%q is read as %s", text, show(got))
		}
	}
	if deep := strings.Repeat("{a: ", maxSimpleDepth); simple("a: "+deep+"b"+strings.Repeat("}", maxSimpleDepth)) != nil {
		t.Error("the depth has no limit")
	}
}

// FuzzSimple compares the two ways to read a text.
func FuzzSimple(f *testing.F) {
	corpus.Add(f)
	for _, text := range append(simpleTexts, oddTexts...) {
		f.Add(text)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1000 && encoded([]byte(text)) == nil {
			sameNodes(t, text)
		}
	})
}
