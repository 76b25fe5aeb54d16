package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// Before it writes, a command says where. A protected stack must be named for that.
func TestAnnounce(t *testing.T) {
	stack := target.Target{Kind: target.KindStack, Name: "shop", Account: "123456789012", Region: "eu-central-1"}
	for _, tt := range []struct {
		protected, named bool
		says             string
	}{
		{false, false, "ingot: this changes stack shop, account 123456789012, region eu-central-1\n"},
		{true, true, "ingot: this changes stack shop, account 123456789012, region eu-central-1\n"},
		{true, false, ""},
	} {
		var stderr bytes.Buffer
		a := &app{IO: cli.IO{Stderr: &stderr}}
		one := stack
		one.Protected, one.Named = tt.protected, tt.named
		err := a.announce(&one)
		if (err != nil) != (tt.says == "") || stderr.String() != tt.says {
			t.Errorf("%+v: %v, %q", tt, err, &stderr)
		}
		if err != nil && exitCode(t.Context(), err) != exitRefused {
			t.Errorf("exit code %d", exitCode(t.Context(), err))
		}
	}
}

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
