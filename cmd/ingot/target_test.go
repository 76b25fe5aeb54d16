package main

import (
	"strings"
	"testing"
)

// In the folder of an ingot dev that runs, each command says that it means this one: once, and also
// if it changes something.
func TestDevIsTheDefault(t *testing.T) {
	w := newDevWorld(t)
	write(t, "samconfig.toml", "version = 0.1\n[default.global.parameters]\nstack_name = \"shop\"\nregion = \"eu-west-1\"\n")
	write(t, "events.ndjson", oldSale+"\n")
	const here = "ingot: no stack is named, so this is the ingot dev with "
	for _, line := range []string{"send events.ndjson --wait", "get sale id=1", "totals sales", "erase sale id=1 --yes", "pause",
		"resume"} {
		got := w.run(0, strings.Fields(line)...)
		if strings.Count(got.errors, here) != 1 {
			t.Errorf("ingot %s: %s", line, got.errors)
		}
		writes := !strings.HasPrefix(line, "get") && !strings.HasPrefix(line, "totals")
		if strings.Contains(got.errors, "ingot: this changes ingot dev with ") != writes {
			t.Errorf("ingot %s: %s", line, got.errors)
		}
	}
	if got := w.run(0, "totals", "sales", "--local"); got.errors != "" {
		t.Errorf("with --local: %s", got.errors)
	}
}
