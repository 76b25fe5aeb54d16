// Package sampleshop is for tests that need the sample shop's files at the root of the repository.
// Users put their own there; all other tests read the copies that this package names.
package sampleshop

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The copies of the sample's files, seen from the root.
const (
	Pipeline = "examples/shop/pipeline.yaml"
	Template = "internal/tool/check/testdata/template.yaml"
)

// PipelineAtRoot skips a test of the messages in events/ unless the pipeline.yaml under root is the
// one they are for.
func PipelineAtRoot(t testing.TB, root string) {
	t.Helper()
	if !same(t, root, "pipeline.yaml", Pipeline) {
		t.Skip("pipeline.yaml is no longer the sample shop's (" + Pipeline + "), which these messages are for: " +
			"write messages of your own into events/, beside these; a change of the shop itself belongs into both files")
	}
}

// TemplateAtRoot skips a test unless the template.yaml under root is the one that the tests read
// and alter.
func TemplateAtRoot(t testing.TB, root string) {
	t.Helper()
	if !same(t, root, "template.yaml", Template) {
		t.Skip("template.yaml is no longer the sample's (" + Template + "), which the tests are about: " +
			"`ingot check` judges your own; a change of the sample itself belongs into both files")
	}
}

// same compares two files byte for byte.
func same(t testing.TB, root, own, sample string) bool {
	t.Helper()
	texts := make([][]byte, 2)
	for i, name := range []string{own, sample} {
		var err error
		if texts[i], err = os.ReadFile(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.Equal(texts[0], texts[1])
}

// Patched is a text with a diff of a document applied: each of its blocks, which is one place, must
// be there once.
func Patched(t testing.TB, text string, diffs ...string) string {
	t.Helper()
	for _, diff := range diffs {
		var old, now strings.Builder
		for line := range strings.Lines(diff) {
			if line[0] != '+' {
				old.WriteString(line[1:])
			}
			if line[0] != '-' {
				now.WriteString(line[1:])
			}
		}
		if n := strings.Count(text, old.String()); n != 1 {
			t.Fatalf("these lines are there %d times:\n%s", n, old.String())
		}
		text = strings.Replace(text, old.String(), now.String(), 1)
	}
	return text
}

// Diffs are the diffs in a document.
func Diffs(document string) (diffs []string) {
	for _, block := range strings.Split(document, "```diff\n")[1:] {
		diff, _, _ := strings.Cut(block, "```")
		diffs = append(diffs, diff)
	}
	return diffs
}
