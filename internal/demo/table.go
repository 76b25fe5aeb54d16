package demo

import (
	"io"
	"strings"
	"unicode/utf8"
)

// table holds rows of cells, which are printed in columns. A row with a single cell is a line of
// its own and does not widen any column.
type table struct {
	right map[int]bool // columns with numbers, which are aligned at the right
	rows  [][]string
}

func newTable(right ...int) *table {
	t := &table{right: map[int]bool{}}
	for _, column := range right {
		t.right[column] = true
	}
	return t
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the rows, indented by two and without spaces at the ends of lines.
func (t *table) print(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if len(row) == 1 {
				continue
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		if len(row) == 1 {
			_, _ = io.WriteString(w, "  "+row[0]+"\n")
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			line.WriteString("  ")
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		_, _ = io.WriteString(w, strings.TrimRight(line.String(), " ")+"\n")
	}
}
