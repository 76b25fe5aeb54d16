// Package docs compares the documents with the code. Every snippet runs or compiles. Every link
// leads somewhere. Every table that repeats the code is compared with it.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// root is the root of the repository, seen from here.
const root = "../../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text := must.Read(t, filepath.Join(root, name))
	return string(text)
}

// oneLine returns the text of a file with a space in place of each break of a line.
func oneLine(t *testing.T, name string) string {
	t.Helper()
	return strings.Join(strings.Fields(read(t, name)), " ")
}

// between returns the text of a file after one text and before another one.
func between(t *testing.T, name, begin, end string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, name), begin)
	must.Equal(t, found, true, name, begin)
	text, _, _ = strings.Cut(text, end)
	return text
}

// exists reports whether the repository has a file.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// groups returns what the first group of a pattern is, wherever the text matches.
func groups(pattern *regexp.Regexp, text string) (list []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// documents returns all Markdown files of the repository, by their path from the root.
func documents(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != "." {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	must.Succeed(t, err)
	if !slices.Contains(names, "README.md") || !slices.Contains(names, "docs/design.md") {
		t.Fatalf("documents are missing: found %v", names)
	}
	return names
}

// block is a fenced block of a document.
type block struct {
	file string
	line int    // the number of its first line of text, from 1
	info string // what stands after the fence: "sh", "yaml pipeline"
	text string
}

func blocks(t *testing.T, name string) []block {
	t.Helper()
	var list []block
	open, indent := false, ""
	for n, line := range strings.Split(read(t, name), "\n") {
		before, fence, isFence := strings.Cut(line, "```")
		isFence = isFence && strings.TrimLeft(before, " ") == ""
		switch {
		case isFence && !open:
			list, open, indent = append(list, block{file: name, line: n + 2, info: fence}), true, before
		case isFence:
			open = false
		case open:
			list[len(list)-1].text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open {
		t.Fatalf("%s: the block of line %d is not closed", name, list[len(list)-1].line-1)
	}
	return list
}

// blocksOf returns the blocks of a document with this info. There must be at least one.
func blocksOf(t *testing.T, name, info string) []block {
	t.Helper()
	all := slices.DeleteFunc(blocks(t, name), func(b block) bool { return b.info != info })
	if len(all) == 0 {
		t.Fatalf("%s has no block ```%s", name, info)
	}
	return all
}

// everyBlock returns the blocks of all documents with this info.
func everyBlock(t *testing.T, info string) (list []block) {
	t.Helper()
	for _, name := range documents(t) {
		list = append(list, slices.DeleteFunc(blocks(t, name), func(b block) bool { return b.info != info })...)
	}
	return list
}

// blockWith returns the text of the last such block that has a text.
func blockWith(t *testing.T, name, info, has string) (text string) {
	t.Helper()
	for _, b := range blocksOf(t, name, info) {
		if strings.Contains(b.text, has) {
			text = b.text
		}
	}
	if text == "" {
		t.Fatalf("%s has no block ```%s with %s", name, info, has)
	}
	return text
}

// table reads the table that follows the comment <!-- name -->. It returns the rows without the
// head. The cells are trimmed, and the backslash before a | is removed.
func table(t *testing.T, file, name string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(read(t, file), "<!-- "+name+" -->\n")
	if !found {
		t.Fatalf("%s has no table marked %q", file, name)
	}
	var rows [][]string
	for n, line := range strings.Split(after, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if n < 2 {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		t.Fatalf("%s: the table marked %q is empty", file, name)
	}
	return rows
}

// compareTable compares a table with the rows that it has to have.
func compareTable(t *testing.T, file, name string, want [][]string) {
	t.Helper()
	must.Equal(t, asText(table(t, file, name)), asText(want), name)
}

// asText returns the rows of a table as a page has them.
func asText(rows [][]string) (text string) {
	for _, row := range rows {
		text += "| " + strings.Join(row, " | ") + " |\n"
	}
	return text
}

// code returns the text of a cell that is one piece of code, without its backticks.
func code(cell string) string { return strings.Trim(cell, "`") }

var heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)

// anchors returns the names by which the headings of a document can be linked, as GitHub makes
// them.
func anchors(t *testing.T, name string) []string {
	t.Helper()
	text := read(t, name)
	for _, b := range blocks(t, name) { // a comment in a shell block is not a heading
		text = strings.Replace(text, b.text, "", 1)
	}
	var list []string
	for _, title := range groups(heading, text) {
		list = append(list, slug(title))
	}
	return list
}

func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}
