package scenario

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// report holds what is seen of a command. It has rows, and neighbouring rows with more than one
// cell are aligned.
type report struct{ rows [][]string }

func (r *report) row(cells ...string) { r.rows = append(r.rows, cells) }

func (r *report) linef(format string, args ...any) { r.row(fmt.Sprintf(format, args...)) }

// lines returns the rows as text. A row that repeats the row before is counted instead.
func (r *report) lines() []string {
	var lines []string
	for at := 0; at < len(r.rows); {
		end := at
		for end < len(r.rows) && len(r.rows[end]) == len(r.rows[at]) {
			end++
		}
		lines = append(lines, align(r.rows[at:end])...)
		at = end
	}
	return repeated(lines)
}

func align(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// repeated replaces each run of equal lines by one line that says how many there were.
func repeated(lines []string) []string {
	var out []string
	for at := 0; at < len(lines); {
		end := at + 1
		for end < len(lines) && lines[end] == lines[at] {
			end++
		}
		line := lines[at]
		if n := end - at; n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		out, at = append(out, line), end
	}
	return out
}

// short cuts a text that is longer than it is worth.
func short(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}
