package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
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
		got := w.run(0, line)
		must.Equal(t, strings.Count(got.errors, here), 1)
		writes := !strings.HasPrefix(line, "get") && !strings.HasPrefix(line, "totals")
		if strings.Contains(got.errors, "ingot: this changes ingot dev with ") != writes {
			t.Errorf("ingot %s: %s", line, got.errors)
		}
	}
	must.Equal(t, w.run(0, "totals sales --local").errors, "")
}

// A command refuses the flags of a stack if they mean nothing to it, wherever they stand.
func TestStackFlagsAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	words := map[string]string{"explain": "-", "list": "letters", "edit": "letters", "pull": "letters", "find": "A B"}
	refusing := map[string]bool{}
	for _, cmd := range all(newRoot(bare())) {
		if !cmd.Runnable() || cmd.Name() == "help" || strings.Contains(cmd.CommandPath(), "completion") {
			continue
		}
		line := strings.TrimPrefix(cmd.CommandPath(), "ingot") + " " + words[cmd.Name()]
		bare().StackFlags().VisitAll(func(f *pflag.Flag) {
			if f = cmd.Flag(f.Name); command.Meaningless(cmd, f) == "" {
				return
			}
			refusing[cmd.Name()] = true
			why := cmd.CommandPath() + " reaches no stack; leave it out"
			if f.Name == "pipeline" {
				why = cmd.CommandPath() + " takes no pipeline.yaml; leave it out"
			}
			given := "--" + f.Name + "=true "
			tool(t, line+" "+given).says(t, exitUsage, "--"+f.Name+": "+why)
			tool(t, given+line).says(t, exitUsage, "--"+f.Name+": "+why)
		})
	}
	want := []string{"archive", "cost", "demo", "dev", "edit", "erase", "explain", "find", "ingot", "init", "list", "migrate", "pause",
		"publish", "pull", "quarantine", "read", "region", "resume"}
	if got := slices.Sorted(maps.Keys(refusing)); !slices.Equal(got, want) {
		t.Errorf("%q refuse a flag, want %q", got, want)
	}
	tool(t, "check --stack shop").says(t, exitUsage, "ingot check reaches a stack only with --was deployed")
	tool(t, "demo --regoin eu-west-1").says(t, exitUsage, "unknown flag: --regoin; see ingot demo --help")
}
