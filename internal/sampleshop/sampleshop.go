// Package sampleshop is for tests that need the sample shop's files at the root of the repository. Users put their own there;
// all other tests read the copies that this package names.
package sampleshop

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The copies of the sample's files, seen from the root.
const (
	Pipeline = "internal/demo/data/orders.yaml"
	Template = "internal/check/testdata/template.yaml"
)

// PipelineAtRoot skips a test of the messages in events/ unless the pipeline.yaml under root is the one they are for.
func PipelineAtRoot(t testing.TB, root string) {
	t.Helper()
	if !same(t, root, "pipeline.yaml", Pipeline) {
		t.Skip("pipeline.yaml is no longer the sample shop's (" + Pipeline + "), which these messages are for: " +
			"write messages of your own into events/, beside these; a change of the shop itself belongs into both files")
	}
}

// TemplateAtRoot skips a test unless the template.yaml under root is the one that the tests read and alter.
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
