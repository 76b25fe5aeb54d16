package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

var updateExamples = flag.Bool("update-examples", false, "write the golden files of the examples anew")

// expected says what is particular about an example.
type expected struct {
	code   int      // the exit code
	place  string   // where it is run; empty: beside a deployment. See [runScripts]
	before []string // the lines of the script that come first
	until  string   // it serves until Ctrl-C, which comes when it has printed this
	more   string   // flags that only the test adds
	piped  bool     // a terminal makes no difference, and the command takes seconds
	long   bool     // it takes seconds, and INGOT_TEST_ALL alone runs it
	free   string   // why its output is not compared with a golden file
	wide   string   // why its lines may be wider than a terminal of 80 columns
	not    string   // why it cannot be run here, and what runs it instead
}

const (
	letters = "exec ingot quarantine pull letters --once --stack shop"
	// What listens does so at any free port, since another test may have the usual ones.
	anyPort = " --port 0 --port-console 0"
)

// particular lists the examples that need more than to be run beside a deployment, and end with
// another exit code than 0. Each key is the beginning of the command line.
var particular = map[string]expected{
	"ingot dev":               {place: "nothing", until: "export AWS_ENDPOINT_URL=", more: anyPort, wide: "a line to copy"},
	"ingot dev --output json": {place: "nothing", until: `"endpoint"`, more: anyPort},
	"ingot console":           {until: "http://", more: " --port 0"},
	"ingot console --local":   {},

	"ingot migrate": {not: "it moves a table. TestMigrate does"},

	"ingot publish again":               {not: "it needs a target. TestNeeds publishes to a queue, and integration to all kinds of targets"},
	"ingot try":                         {not: "it is meant for a stack without events. TestNeeds runs it, and integration on LocalStack"},
	"ingot verify --stack shop --large": {not: "it needs Step Functions. integration runs it on LocalStack"},
	"ingot region move":                 {not: "it needs a replica in another Region. TestNeeds moves a home, and so does internal/tool/region"},

	"ingot demo":                 {place: "root", piped: true},
	"ingot demo --seed":          {place: "root", piped: true, long: true},
	"ingot demo --example":       {place: "root", piped: true, long: true},
	"ingot demo --repeat":        {not: "it takes ten times as long. internal/tool/demo tests copies with less data"},
	"ingot demo --output":        {place: "root", piped: true, long: true, free: "it is long. TestDemoJSON reads it"},
	"ingot demo events":          {place: "readings", piped: true},
	"ingot demo - ":              {place: "readings", piped: true},
	"ingot explain row.json":     {not: "there is no old table. TestMigrateExplain does"},
	"ingot explain":              {place: "root", wide: "it shows expressions, and a payload as it is"},
	"ingot cost":                 {place: "root", wide: "its tables"},
	"ingot cost --rate 100 --":   {place: "root", wide: "its tables", long: true},
	"ingot cost --rate 2000":     {place: "root", wide: "its tables", long: true},
	"ingot check":                {place: "root", wide: "its tables, and what is to do"},
	"ingot check --was deployed": {wide: "its tables, and what is to do"},

	"ingot archive read":  {before: []string{"archived"}, wide: "an item is shown as it is"},
	"ingot archive find":  {before: []string{"archived"}, wide: "an item is shown as it is"},
	"ingot archive erase": {before: []string{"archived"}, wide: "names of files"},
	"ingot archive erase --keys": {before: []string{"archived",
		"exec ingot erase --pattern order order_id=o-1 --keys c-9.ndjson --dry-run --stack shop"}, wide: "names of files"},

	"ingot init": {not: "it fetches modules. TestInitMakesARepository runs it"},
	"ingot init --diff": {place: "nothing",
		before: []string{"mkdir new", "cd new", "exec ingot init . --module example.com/shop --no-tidy"}},

	"ingot status --local --check": {code: exitDifference},
	"ingot get":                    {wide: "a payload is shown as it is"},
	"ingot erase --keys": {before: []string{"exec ingot erase --pattern order order_id=o-1 --keys erased.ndjson --dry-run " +
		"--stack shop"}},
	"ingot query":          {wide: "a payload and a token are shown as they are"},
	"ingot send - --stack": {},

	"ingot quarantine list": {before: []string{letters, "letter letters"}, wide: "the reason is as long as it is"},
	"ingot quarantine show": {before: []string{letters, "letter letters"}, code: exitDifference,
		wide: "a payload is shown as it is"},
	"ingot quarantine edit":                  {before: []string{letters, "letter letters"}, wide: "a payload is shown as it is"},
	"ingot quarantine list letters --output": {before: []string{letters}},
	"ingot quarantine resend":                {before: []string{letters}, code: exitDifference, wide: "the reason is as long as it is"},
	"ingot quarantine drop":                  {before: []string{letters, "letter letters"}},

	"ingot rebuild orders_daily --stack": {long: true},

	"ingot resume --":      {before: []string{"exec ingot pause --stack shop"}},
	"ingot resume streams": {before: []string{"exec ingot pause streams --yes --stack shop"}},
}

func particularOf(line string) expected {
	best, found := "", expected{}
	for start, e := range particular {
		if strings.HasPrefix(line, start) && len(start) > len(best) {
			best, found = start, e
		}
	}
	return found
}

// examplesOf returns the command lines in a command's help.
func examplesOf(cmd *cobra.Command) []string {
	var list []string
	for line := range strings.Lines(cmd.Example) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// Every command that does something has examples, and each of them begins with the command.
func TestEveryCommandHasExamples(t *testing.T) {
	var lines []string
	for _, cmd := range all(newRoot(bare())) {
		if cmd.Runnable() && !cmd.HasSubCommands() && !slices.Contains([]string{"help", "completion"}, cmd.Name()) &&
			(cmd.Parent() == nil || cmd.Parent().Name() != "completion") {
			if len(examplesOf(cmd)) == 0 {
				t.Errorf("%s has no examples", cmd.CommandPath())
			}
			if cmd.Long == "" {
				t.Errorf("%s has no long help", cmd.CommandPath())
			}
		}
		for _, line := range examplesOf(cmd) {
			if lines = append(lines, line); !strings.HasPrefix(line, cmd.CommandPath()) {
				t.Errorf("%s: the example %q is of another command", cmd.CommandPath(), line)
			}
		}
	}
	for start := range particular {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, start) }) {
			t.Errorf("no example begins with %q", start)
		}
	}
}

// TestExamples runs every example of every command as a script, in a folder of its own, against a
// pipeline that runs: once into a pipe, and with the long tests once more on a terminal of 80
// columns. What only reads does both in one script. With -short, what takes seconds is left out.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("short: other tests run each of these commands")
	}
	scripts := t.TempDir()
	golden := map[string]bool{}
	for _, cmd := range all(newRoot(bare())) {
		for i, line := range examplesOf(cmd) {
			e := particularOf(line)
			if e.not != "" {
				continue
			}
			name := fmt.Sprintf("%s_%d", strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "ingot "), " ", "_"), i+1)
			golden[name+".golden"], golden[name+".80.golden"] = true, true
			if (e.long && !slow.All() || e.piped && testing.Short()) && !*updateExamples {
				continue
			}
			before := strings.Join(append(e.before, ""), "\n")
			piped, terminal := script(name, line, e, "ingot", ""), script(name, line, e, "ingot80", widthOf(line, e))
			texts := map[string]string{"": before + piped, "-80": before + terminal}
			switch {
			case e.piped || testing.Short():
				delete(texts, "-80")
			case !slow.All() && !*updateExamples:
				delete(texts, "-80")
			case readOnly(cmd, e):
				texts = map[string]string{"": before + piped + terminal}
			}
			for file, text := range texts {
				write(t, filepath.Join(scripts, name+file+"@"+e.place+".txt"), text)
			}
		}
	}
	t.Run("scripts", func(t *testing.T) { runScripts(t, testscript.Params{Dir: scripts}) })
	files, err := os.ReadDir("testdata/examples")
	must.Succeed(t, err)
	for _, f := range files {
		if *updateExamples {
			leaveOut(t, filepath.Join("testdata/examples", f.Name()))
		}
		if !golden[f.Name()] {
			t.Errorf("testdata/examples/%s is of no example", f.Name())
		}
	}
}

// leaveOut removes the golden file of a terminal if a pipe gets the same.
func leaveOut(t *testing.T, file string) {
	t.Helper()
	start, is := strings.CutSuffix(file, ".80.golden")
	if !is {
		return
	}
	piped, err := os.ReadFile(start + ".golden")
	terminal, err2 := os.ReadFile(file)
	must.Succeed(t, errors.Join(err, err2))
	if bytes.Equal(piped, terminal) {
		must.Succeed(t, os.Remove(file))
	}
}

// readOnly reports whether an example leaves everything as it was. It can be run a second time in
// the same place.
func readOnly(cmd *cobra.Command, e expected) bool {
	return e.until == "" && slices.Contains([]string{"check", "cost", "explain", "get", "list", "query", "show", "status", "totals"},
		cmd.Name())
}

// script returns the lines of a script that run an example.
func script(name, line string, e expected, tool, width string) string {
	var b strings.Builder
	line, from, redirected := strings.Cut(line, " < ")
	if redirected {
		fmt.Fprintf(&b, "stdin %s\n", from)
	}
	words := strings.Fields(tool + strings.TrimPrefix(line, "ingot") + e.more)
	for i, word := range words {
		if strings.Contains(word, "#") { // a comment of the script otherwise
			words[i] = "'" + word + "'"
		}
	}
	line = strings.ReplaceAll(strings.Join(words, " "), "3f2a91c0", "$LETTER")
	prefix, out := "exec ", "stdout"
	switch {
	case e.until != "":
		prefix, out = "serve '"+e.until+"' ", "served"
	case e.code != 0:
		prefix = "! exec "
	}
	fmt.Fprintf(&b, "%s%s\n", prefix, line)
	if e.free == "" {
		fmt.Fprintf(&b, "golden %s %s %s\n", name, out, width)
	}
	return b.String()
}

// widthOf says how wide the output of an example may be on a terminal. What programs read has no
// width.
func widthOf(line string, e expected) string {
	if e.wide != "" || strings.Contains(line, "--output") || strings.Contains(line, "prometheus") ||
		strings.Contains(line, "ingot policy") {
		return "wide"
	}
	return "80"
}

// TestScripts runs the scripts of testdata/scripts.
func TestScripts(t *testing.T) {
	runScripts(t, testscript.Params{Dir: "testdata/scripts"})
}

// TestREADMESession types the commands of README's session beside an ingot dev, and compares what
// they print.
func TestREADMESession(t *testing.T) {
	session, err := readme("text session")
	must.Succeed(t, err)
	script := "cp messages.ndjson orders.ndjson\n"
	files := ""
	for n, part := range strings.Split(strings.TrimPrefix(session, "$ "), "\n$ ") {
		line, out, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
		not := ""
		if strings.Contains(out, "another payload") { // it exits with 3
			not = "! "
		}
		script += fmt.Sprintf("%sexec sh -c '%s'\nprints out-%d\n", not, line, n)
		files += fmt.Sprintf("-- out-%d --\n%s\n", n, out)
		if n == 0 {
			script += "settle\n" // a person does not type the next command at once
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "session@silent.txt"), script+files)
	runScripts(t, testscript.Params{Dir: dir})
}
