package docs

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/estimate"
)

// tool builds the tool as the README's go run does, which keeps it in the build cache. It is built
// once for all tests that need it.
func tool(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the tool with the go command, which -short leaves out")
	}
	binary := filepath.Join(t.TempDir(), "ingot")
	run(t, root, "go", "run", "-exec", "cp", "./cmd/ingot", binary)
	return binary
}

// TestTool checks what the documents say about the tool.
func TestTool(t *testing.T) {
	binary := tool(t)
	t.Run("demo excerpt", func(t *testing.T) { testExcerpt(t, binary, "README.md", "text demo", "demo") })
	t.Run("cost excerpt", func(t *testing.T) {
		testExcerpt(t, binary, "README.md", "text cost", "cost", "--rate", "100", "--pipeline", sampleshop.Pipeline)
	})
	t.Run("cost in full", func(t *testing.T) {
		testExcerpt(t, binary, "docs/cost.md", "text cost", "cost", "--rate", "100", "--pipeline", sampleshop.Pipeline)
	})
	t.Run("commands", func(t *testing.T) { testCommands(t, binary) })
	t.Run("six words", func(t *testing.T) { testHelpWords(t, binary) })
}

// TestCostsByHand computes what README says of other ways to count.
func TestCostsByHand(t *testing.T) {
	const totals = 3
	prices, err := cost.PricesOf("")
	must.Succeed(t, err)
	r, err := cost.Suppose(cost.Input{Pipeline: loaded(t, sampleshop.Pipeline), Prices: prices, Rate: 100, Partitions: 4,
		Memory: cost.DefaultMemory, Architecture: "arm64", Together: 10, Now: must.Time("2026-03-15T00:00:00Z")}, 1)
	must.Succeed(t, err)
	must.Say(t, oneLine(t, "README.md"),
		fmt.Sprintf("| at most %d: changes of a batch share them | %[1]d | %d: a marker and the totals, twice each |", totals,
			estimate.InTransaction*(1+totals)),
		fmt.Sprintf("take %.2f dollars with ADD alone, %.2f with a marker, and %.2f with Ingot", r.Beside[0].DollarsAMillion,
			r.Beside[1].DollarsAMillion, r.DollarsAMillion),
		fmt.Sprintf("By hand, all of that takes %.2f dollars", r.Beside[3].DollarsAMillion))
}

// TestGoVersion shows that the README asks for the same version of Go as go.mod.
func TestGoVersion(t *testing.T) {
	var version string
	for line := range strings.Lines(read(t, "go.mod")) {
		if rest, is := strings.CutPrefix(line, "go "); is {
			version = strings.TrimSuffix(strings.TrimSpace(rest), ".0")
		}
	}
	must.Say(t, read(t, "README.md"), "This needs Go ("+version+" or newer)")
}

// TestTimesAreChecked shows that CI measures the times of make test that the README states.
func TestTimesAreChecked(t *testing.T) {
	said := regexp.MustCompile("`make test` takes at most (\\d+) s on two quiet cores with Go alone,\\s+with Docker (\\d+) s").FindStringSubmatch(
		read(t, "README.md"))
	if said == nil {
		t.Fatal("README.md does not say how long make test takes")
	}
	script := read(t, ".ci/run")
	without, _ := strconv.Atoi(said[1]) // digits
	with, _ := strconv.Atoi(said[2])    // digits
	for what, seconds := range map[string]int{"plain": without, "docker": with - without} {
		must.Say(t, script, fmt.Sprintf(" timed %s %d '", what, seconds))
	}
}

// excerpted holds what commands print of which pages show an excerpt.
var excerpted = map[string][]byte{}

// testExcerpt compares a document's excerpt of the output of a command with the real output. The
// lines must be in order. … marks a gap.
func testExcerpt(t *testing.T, binary, document, info string, args ...string) {
	line := strings.Join(args, " ")
	out, ran := excerpted[line]
	if !ran {
		cmd := exec.Command(binary, args...)
		cmd.Dir = root
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("ingot %s: %v", line, err)
		}
		excerpted[line] = out
	}
	// The file of the sample shop at the root may be a user's own by now. The command reads the
	// copy.
	out = bytes.ReplaceAll(out, []byte(sampleshop.Pipeline), []byte("pipeline.yaml"))
	excerpt := blocksOf(t, document, info)[0].text
	if golden.Update() {
		fresh := refreshed(excerpt, string(out))
		text := strings.Replace(read(t, document), excerpt, fresh, 1)
		must.Write(t, filepath.Join(root, document), text)
		excerpt = fresh
	}
	lines := strings.Split(string(out), "\n")
	for _, line := range strings.Split(strings.TrimSuffix(excerpt, "\n"), "\n") {
		if line == "…" {
			continue
		}
		i := slices.Index(lines, line)
		if i < 0 {
			t.Errorf(
				"ingot %s does not print the line, or not here:\n%s\nif its figures have changed, run: go test -run TestTool ./internal/prove/docs -update", args[0], line)
			continue
		}
		lines = lines[i+1:]
	}
}

var figures = regexp.MustCompile(`[-0-9.,:TZ]+| +`)

// refreshed returns the excerpt with each line as the output has it now, in order. Apart from
// figures and spaces, it is the same line.
func refreshed(excerpt, out string) string {
	lines := strings.Split(out, "\n")
	var fresh []string
	for _, line := range strings.Split(excerpt, "\n") {
		i := slices.IndexFunc(lines, func(l string) bool {
			return line != "" && figures.ReplaceAllString(l, "") == figures.ReplaceAllString(line, "")
		})
		if i >= 0 {
			line, lines = lines[i], lines[i+1:]
		}
		fresh = append(fresh, line)
	}
	return strings.Join(fresh, "\n")
}

// inside matches words of the design that a newcomer does not need. README and --help use only
// event, key, verdict, aggregate, quarantine and verify.
var inside = regexp.MustCompile(
	`(?i)\b(digests?|lanes?|generations?|fingerprints?|contributions?|deltas?|watermarks?|high-water|epochs?|marks?|receipts?)\b`)

var inlineCode = regexp.MustCompile("`[^`]*`")

// readmeLines is the most lines that the README may have.
const readmeLines = 200

func TestREADMEIsOnePage(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, and people read at most %d", n, readmeLines)
	}
}

func TestREADMEGetsByWithSixWords(t *testing.T) {
	text := read(t, "README.md")
	for _, b := range blocks(t, "README.md") {
		text = strings.Replace(text, b.text, "", 1)
	}
	for n, line := range strings.Split(text, "\n") {
		must.Equal(t, inside.FindString(inlineCode.ReplaceAllString(line, "")), "", n+1)
	}
	must.Say(t, strings.ToLower(text), "event", "key", "verdict", "aggregate", "quarantine", "verify")
}

// TestTwelveWords shows that the page about Ingot's words explains twelve of them, and that README
// names it before any other page to read next.
func TestTwelveWords(t *testing.T) {
	page, _, _ := strings.Cut(read(t, "docs/words.md"), "\n## ")
	for _, word := range []string{"put", "part", "quarantine", "fold", "lane", "mark",
		"epoch", "generation", "touch", "flag", "bar", "turn"} {
		must.Equal(t, strings.Count(page, "\n- **"+word+"**: "), 1, word)
	}
	must.Equal(t, strings.Count(page, "\n- **"), 12)
	_, next, _ := strings.Cut(read(t, "README.md"), "\n## Where to read next\n")
	if first := link.FindStringSubmatch(next); first == nil || first[1] != "docs/words.md" {
		t.Errorf("README names %v first", first)
	}
}

// mostPages is how many pages docs may have. A new page takes the place of another, or joins it.
const mostPages = 28

func TestPagesAreFew(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) > mostPages {
		t.Errorf("docs has %d pages, and at most %d are allowed (%v)", len(pages), mostPages, err)
	}
}

var subcommand = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)

// values removes words of the design that a user types. A flag and the template name the ways to
// count by these words.
var values = strings.NewReplacer("how totals are counted: marks or receipts (default \"marks\")", "", "--counting receipts", "",
	"Counting=receipts", "")

// testHelpWords shows that the help of the tool and of each of its commands uses only the six
// words. The exceptions are what a user types, and the topic json, whose names are fixed.
func testHelpWords(t *testing.T, binary string) {
	help := func(args ...string) string {
		return run(t, root, binary, append(args, "--help")...)
	}
	_, after, _ := strings.Cut(help(), "Available Commands:\n")
	commands := append(groups(subcommand, after), "", "stack", "exit-codes")
	for _, ours := range []string{"demo", "check", "explain"} {
		if !slices.Contains(commands, ours) {
			t.Errorf("ingot --help does not list %s: %q", ours, commands)
		}
	}
	for _, command := range commands {
		prose := help(strings.Fields(command)...)
		for line := range strings.Lines(values.Replace(prose)) {
			must.Equal(t, inside.FindString(line), "", command, line)
		}
	}
}

var testName = regexp.MustCompile("`([a-z]+)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`")

// TestNamedTestsExist shows that every test that a document names as proof exists.
func TestNamedTestsExist(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		for _, m := range testName.FindAllStringSubmatch(read(t, name), -1) {
			found++
			if !testExists(t, m[1], m[2]) {
				t.Errorf("%s names %s.%s, and there is no such test", name, m[1], m[2])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d tests are named", found)
	}
}

func testExists(t *testing.T, pkg, test string) bool {
	t.Helper()
	for _, pattern := range []string{pkg, "*/" + pkg, "internal/*/" + pkg, "internal/*/*/" + pkg} {
		files, err := filepath.Glob(filepath.Join(root, pattern, "*_test.go"))
		must.Succeed(t, err)
		for _, file := range files {
			text := must.Read(t, file)
			if strings.Contains(string(text), "\nfunc "+test+"(") {
				return true
			}
		}
	}
	return false
}

// TestEveryPromiseNamesItsTest shows that the promises are numbered, and that each says when it
// holds, what breaks it, and which test proves it.
func TestEveryPromiseNamesItsTest(t *testing.T) {
	for n, row := range table(t, guarantees, "guarantees") {
		must.Equal(t, row[0], fmt.Sprintf("P%d", n+1), row[1])
		if len(row) != 5 || row[2] == "" || row[3] == "" {
			t.Errorf("the promise %q does not say when it holds and what breaks it", row[1])
		} else if !testName.MatchString(row[4]) {
			t.Errorf("the promise %q names no test", row[1])
		}
	}
}

// TestREADMEShowsSomePromises shows that README has six or seven of the promises, as their page has
// them, and says how many there are.
func TestREADMEShowsSomePromises(t *testing.T) {
	listed := between(t, "README.md", "\n## What is guaranteed\n", "\n## ")
	rows, shown := table(t, guarantees, "guarantees"), 0
	for _, row := range rows {
		shown += strings.Count(listed, "\n- "+row[1]+".\n")
	}
	if all := strings.Count(listed, "\n- "); shown != all || all < 6 || all > 7 {
		t.Errorf("README lists %d promises, and %s has %d of them; it should list six or seven", all, guarantees, shown)
	}
	must.Say(t, listed, fmt.Sprintf("[All %d](%s)", len(rows), guarantees))
}

var promised = regexp.MustCompile(`\bP(\d+)\b`)

// TestNumbersOfPromises shows that documents name only promises that exist.
func TestNumbersOfPromises(t *testing.T) {
	last := len(table(t, guarantees, "guarantees"))
	for _, name := range []string{"docs/correctness.md", "docs/design.md", "docs/guarantees.md"} {
		named := promised.FindAllStringSubmatch(read(t, name), -1)
		for _, m := range named {
			if n, _ := strconv.Atoi(m[1]); n < 1 || n > last { // digits
				t.Errorf("%s names %s, and the last promise is P%d", name, m[0], last)
			}
		}
		if len(named) < 5 {
			t.Errorf("%s names only %d promises", name, len(named))
		}
	}
}

// TestGoInDocumentsIsCompiled shows that Go code in a document is part of an example at the root of
// the repository or in ingottest. The examples are compiled, and most of them run.
func TestGoInDocumentsIsCompiled(t *testing.T) {
	source := flattened(read(t, "example_test.go")) + flattened(read(t, "ingottest/example_test.go"))
	found := everyBlock(t, "go")
	for _, b := range found {
		if !strings.Contains(source, flattened(b.text)) {
			t.Errorf("%s:%d: this Go is in no example_test.go as it stands here", b.file, b.line)
		}
	}
	if len(found) < 3 {
		t.Errorf("only %d blocks of Go found", len(found))
	}
}

// flattened returns text without indentation and blank lines.
func flattened(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
