package show

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table holds rows of cells, which are printed in columns. A row with a single cell is a line of
// its own and does not widen any column.
type Table struct {
	right map[int]bool // columns with numbers, which are aligned at the right
	rows  [][]string
	most  int // columns of the terminal; 0: any number
}

// NewTable returns an empty table. right are the columns that are aligned at the right.
func NewTable(right ...int) *Table {
	t := &Table{right: map[int]bool{}}
	for _, column := range right {
		t.right[column] = true
	}
	return t
}

// Fit makes the table at most so many characters wide, by shortening the widest columns that are
// aligned at the left. Numbers are never cut, nor a line of its own. 0 means any width.
func (t *Table) Fit(most int) { t.most = most }

// Row adds a row. It makes the cells safe for a terminal.
func (t *Table) Row(cells ...string) {
	for i := range cells {
		cells[i] = Text(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// Print writes the rows, indented by two and without spaces at the ends of lines.
func (t *Table) Print(w io.Writer) {
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
	t.narrow(widths)
	for _, row := range t.rows {
		if len(row) == 1 {
			_, _ = io.WriteString(w, "  "+row[0]+"\n")
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
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

// least is how narrow a column may become.
const least = 6

// narrow takes from the widest columns until the table fits.
func (t *Table) narrow(widths []int) {
	if t.most == 0 {
		return
	}
	sum := 0
	for _, width := range widths {
		sum += 2 + width
	}
	for ; sum > t.most; sum-- {
		widest := -1
		for i, width := range widths {
			if !t.right[i] && width > least && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// cut shortens a cell to a width.
func cut(cell string, width int) string {
	if utf8.RuneCountInString(cell) <= width {
		return cell
	}
	return string([]rune(cell)[:width-1]) + "…"
}
