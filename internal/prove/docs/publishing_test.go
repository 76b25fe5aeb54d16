package docs

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/tool/check"
)

// The files of the page are those of the example, and fit together.
func TestPublishingOfThePage(t *testing.T) {
	files := fstest.MapFS{}
	for name, info := range map[string]string{"pipeline.yaml": "", "publish.yaml": "yaml publish", "next.yaml": "yaml pipeline"} {
		text, err := examples.Files.ReadFile("publish/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
		if info == "" {
			continue
		}
		for _, b := range blocksOf(t, "docs/publishing.md", info) {
			if !strings.Contains(string(text), b.text) {
				t.Errorf("%s of the example has not what the page shows", name)
			}
		}
	}
	file := func(name string) *check.File { return &check.File{Name: name, Text: files[name].Data} }
	r, err := check.Run(check.Input{Pipeline: *file("pipeline.yaml"), Publish: file("publish.yaml"), Next: file("next.yaml")})
	if err != nil || len(r.Findings) > 0 {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}
