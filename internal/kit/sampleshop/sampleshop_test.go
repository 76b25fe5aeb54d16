package sampleshop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// In CI a skip is a failure, so here the files at the root and their copies stay the same.
func TestPipeline(t *testing.T) { PipelineAtRoot(t, "../../..") }
func TestTemplate(t *testing.T) { TemplateAtRoot(t, "../../..") }

func TestOwnFilesSkip(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"pipeline.yaml": "ingot: 1\n", Pipeline: "ingot: 1 # the shop\n",
		"template.yaml": "a: 1\n", Template: "a: 1\n",
	} {
		path := filepath.Join(root, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Write(t, path, text)
	}
	own := &skipped{TB: t}
	PipelineAtRoot(own, root)
	equal := &skipped{TB: t}
	TemplateAtRoot(equal, root)
	if !own.yes || equal.yes {
		t.Errorf("another pipeline skips: %v; the same template skips: %v", own.yes, equal.yes)
	}
}

// skipped notes a skip and goes on.
type skipped struct {
	testing.TB
	yes bool
}

func (s *skipped) Skip(...any) { s.yes = true }
