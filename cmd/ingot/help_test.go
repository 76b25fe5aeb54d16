package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// helpOf returns what --help prints on a terminal of so many columns; 0 is a pipe. Other words may
// stand in place of the command and --help.
func helpOf(t *testing.T, cmd *cobra.Command, columns int, words ...string) string {
	t.Helper()
	var out strings.Builder
	a := appOf(cli.IO{Env: os.LookupEnv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Columns: columns})
	if words == nil {
		words = append(strings.Fields(cmd.CommandPath())[1:], "--help")
	}
	if code := execute(context.Background(), a, words); code != 0 {
		t.Fatalf("%s --help: exit code %d", cmd.CommandPath(), code)
	}
	return out.String()
}

// On a terminal of 80 columns, the help of every command says the same words, in lines that fit.
// Only examples are as long as they are.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, cmd := range all(newRoot(bare())) {
		if cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			continue // cobra's own text, with command lines to copy
		}
		piped, narrow := helpOf(t, cmd, 0), helpOf(t, cmd, 80)
		if !slices.Equal(strings.Fields(piped), strings.Fields(narrow)) {
			t.Errorf("%s --help says something else on a terminal:\n%s", cmd.CommandPath(), narrow)
		}
		if wide := helpOf(t, cmd, 200); wide != piped {
			t.Errorf("%s --help is wrapped on a wide terminal", cmd.CommandPath())
		}
		_, examples, _ := strings.Cut(narrow, "\nExamples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		for line := range strings.Lines(narrow) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 && !strings.Contains(examples, line) {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), utf8.RuneCountInString(line), line)
			}
		}
		for example := range strings.Lines(cmd.Example) {
			if !strings.Contains(narrow, strings.TrimSpace(example)) {
				t.Errorf("%s --help breaks its example %s", cmd.CommandPath(), example)
			}
		}
	}
}

// The help of a command lists no flag of the root, and ends with the topics that it needs. The help
// of the root and the topic of stacks list these flags.
func TestHelpNamesItsTopics(t *testing.T) {
	root := newRoot(bare())
	json := helpOf(t, root, 0, "help", "json")
	for _, cmd := range all(root) {
		help := helpOf(t, cmd, 0)
		if ends := strings.HasSuffix(help, "\nWhich stack: ingot help stack. With --output json: ingot help json.\n") ||
			strings.HasSuffix(help, "\nWhich stack: ingot help stack.\n"); ends != command.Reaches(cmd) {
			t.Errorf("%s --help says which stack at its end: %v", cmd.CommandPath(), ends)
		}
		if described := strings.Contains(json, cmd.CommandPath()+":") || strings.Contains(json, cmd.CommandPath()+","); described !=
			strings.HasSuffix(help, "With --output json: ingot help json.\n") {
			t.Errorf("ingot help json describes %s: %v", cmd.CommandPath(), described)
		}
		if lists := strings.Contains(help, "--endpoint-url string"); lists != (cmd == root || cmd.Name() == "stack") {
			t.Errorf("%s --help lists the flags of the root: %v", cmd.CommandPath(), lists)
		}
	}
}

func TestWrapHelp(t *testing.T) {
	const text = `It adds up all that is stored,
and compares.

With --output json, one object:
  stored, other    what is stored of it, and
                   of its parts
  left             not yet

Exit codes: 0 fine.
Examples:
  ingot verify --local --a-long-flag --another-long-flag
`
	const want = `It adds up all that is
stored, and compares.

With --output json, one
object:
  stored, other    what
                   is
                   stored
                   of it,
                   and of
                   its
                   parts
  left             not
                   yet

Exit codes: 0 fine.
Examples:
  ingot verify --local --a-long-flag --another-long-flag
`
	must.Equal(t, wrapHelp(text, 25), want)
}
