package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ingot-events/ingot/internal/kit/must"
)

var session = regexp.MustCompile("(?s)```sh\n(ingot [^\n]*)\n```\n(?:\n```text\n(.*?)```)?")

// TestCommandsPage runs the commands of docs/commands.md, each on README's events, and compares
// what they print with the page.
func TestCommandsPage(t *testing.T) {
	page := must.Read(t, "../../docs/commands.md")
	scripts := t.TempDir()
	found := session.FindAllStringSubmatch(string(page), -1)
	if len(found) < 6 {
		t.Fatalf("only %d commands found", len(found))
	}
	for i, m := range found {
		script := "exec " + m[1] + "\n"
		if m[2] != "" {
			script += "prints want.txt\n-- want.txt --\n" + m[2]
		}
		write(t, filepath.Join(scripts, fmt.Sprintf("%d.txt", i)), script)
	}
	runScripts(t, testscript.Params{Dir: scripts})
	for code, name := range map[int]string{exitFine: "fine", exitCredentials: "credentials", exitRefused: "refused",
		exitUnsure: "could not tell", exitInterrupted: "interrupted"} {
		if !regexp.MustCompile(fmt.Sprintf(`\| %d \| [^\n]*%s`, code, name)).Match(page) {
			t.Errorf("the page does not say that %d is %s", code, name)
		}
	}
	for _, option := range []string{"stack", "config-env", "local", "profile", "region", "endpoint-url"} {
		must.Say(t, string(page), "`--"+option)
	}
}
