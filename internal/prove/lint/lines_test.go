package lint

import (
	"go/parser"
	"go/token"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// widest is how many columns a line of prose may have. A tab counts as four.
const widest = 100

// Comments and pages are easy to read beside each other if no line is wide. A line may be wider if
// it cannot be broken: a table, a listing, the output of an example, or one long word.
func TestProseIsNotWide(t *testing.T) {
	for _, file := range tracked(t, "*.go") {
		text := must.Read(t, file)
		files, lines := token.NewFileSet(), strings.Split(string(text), "\n")
		parsed, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
		must.Succeed(t, err)
		for _, group := range parsed.Comments {
			output := false
			for _, c := range group.List {
				n := files.Position(c.Pos()).Line
				line := lines[n-1]
				output = output || strings.HasSuffix(line, "utput:")
				if isWide(line) && !output && strings.HasPrefix(strings.TrimSpace(line), "// ") && !strings.Contains(line, "//  ") {
					t.Errorf("%s:%d: the comment is wider than %d columns", strings.TrimPrefix(file, "../../../"), n, widest)
				}
			}
		}
	}
	for _, file := range tracked(t, "*.md") {
		text := must.Read(t, file)
		listing := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				listing = !listing
			}
			if !listing && isWide(line) && !strings.HasPrefix(strings.TrimSpace(line), "|") &&
				!strings.HasPrefix(strings.TrimSpace(line), "![") && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s:%d: the line is wider than %d columns", strings.TrimPrefix(file, "../../../"), i+1, widest)
			}
		}
	}
}

// isWide reports whether a line is too wide and could be broken.
func isWide(line string) bool {
	if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) <= widest {
		return false
	}
	words := strings.Fields(line)
	return len(words) > 2 || len(words) == 2 && words[0] != "//" && words[0] != "-"
}

// tracked lists the files of the repository that match a pattern.
func tracked(t *testing.T, pattern string) (list []string) {
	out, err := exec.Command("git", "-C", "../../..", "ls-files", "-z", pattern).Output()
	if err != nil {
		t.Skip("this needs git and a checkout: ", err)
	}
	for _, name := range strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }) {
		list = append(list, "../../../"+name)
	}
	return list
}
