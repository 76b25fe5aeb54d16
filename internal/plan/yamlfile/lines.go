package yamlfile

import "strings"

// lines is a text as a list of lines. A line is a list of characters, because positions count
// these.
type lines [][]rune

func newLines(text string) lines {
	var l lines
	for _, line := range strings.Split(text, "\n") {
		l = append(l, []rune(line))
	}
	return l
}

// line returns one of the lines, from 1. It is empty beyond the end.
func (l lines) line(n int) []rune {
	if n < 1 || n > len(l) {
		return nil
	}
	return l[n-1]
}

// from returns what stands in a line from a column on.
func (l lines) from(line, column int) string {
	text := l.line(line)
	if column < 1 || column > len(text) {
		return ""
	}
	return string(text[column-1:])
}

// begins reports whether only blanks stand in the line before the column.
func (l lines) begins(line, column int) bool {
	text := l.line(line)
	return column >= 1 && column <= len(text) && strings.TrimSpace(string(text[:column-1])) == ""
}

// next returns the first line below n that holds more than blanks and a comment, or 0 if there is
// none.
func (l lines) next(n int) int {
	for n++; n <= len(l); n++ {
		if text := strings.TrimSpace(string(l.line(n))); text != "" && text[0] != '#' {
			return n
		}
	}
	return 0
}

// closing finds the quote that ends the quoted text which begins at a position. ok is false if
// there is no such quote.
func (l lines) closing(line, column int) (endLine, endColumn int, ok bool) {
	quote := l.line(line)[column-1]
	for column++; line <= len(l); line, column = line+1, 1 {
		text := l.line(line)
		for ; column <= len(text); column++ {
			switch c := text[column-1]; {
			case quote == '"' && c == '\\':
				column++
			case c != quote:
			case quote == '\'' && column < len(text) && text[column] == quote:
				column++ // two single quotes stand for one in the text
			default:
				return line, column, true
			}
		}
	}
	return 0, 0, false
}
