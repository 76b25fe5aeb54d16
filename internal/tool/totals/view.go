// Package totals shows totals: as one table, as bars, as JSON and as CSV. [Scan] reads those of an
// aggregate from the whole table.
package totals

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store/query"
)

// View is a total as commands show it.
type View struct {
	Aggregate string            `json:"aggregate"`
	Since     int64             `json:"since"`
	By        map[string]string `json:"by"`
	Window    *time.Time        `json:"window,omitempty"`
	Values    map[string]any    `json:"values"`
	Flags     []string          `json:"flags"`
	Building  bool              `json:"building"`
	Missing   bool              `json:"missing"`

	def   *aggregate.Definition
	shown map[string]show.Value
}

// Of shows a total of the group by.
func Of(def *aggregate.Definition, by map[string]string, t query.Total, mask show.Personal) View {
	s := View{Aggregate: def.Name, Since: def.Since, By: mask.By(def.Name, by), Values: map[string]any{}, shown: ValuesOf(def, t, mask),
		Flags: append([]string{}, mask.All(t.Flags)...), Building: t.Building, Missing: t.Missing, def: def}
	if def.Window != 0 && !t.Window.IsZero() {
		s.Window = &t.Window
	}
	for name, value := range s.shown {
		s.Values[name] = value.JSON
	}
	return s
}

// ValuesOf returns the values of a total by their names. A total that is not stored has none.
func ValuesOf(def *aggregate.Definition, t query.Total, mask show.Personal) map[string]show.Value {
	if t.Missing {
		return map[string]show.Value{}
	}
	return mask.Values(def, func(name string) aggregate.Amount { return show.AmountOf(name, t.Values, t.Texts) })
}

// Table writes one line for each total. named says whether the aggregate is named in each.
func Table(b *strings.Builder, list []View, width int, named bool) {
	group := ""
	var t *show.Table
	for _, one := range list {
		if t == nil || group != one.Aggregate {
			if t != nil {
				t.Print(b)
			}
			if named {
				fmt.Fprintf(b, "\n%s\n", one.Aggregate)
			}
			group = one.Aggregate
			var right []int
			first := len(one.def.By) + 1
			for i, value := range one.def.Values {
				if value.Op != aggregate.Newest && value.Op != aggregate.Oldest { // texts may be cut, numbers may not
					right = append(right, first+i)
				}
			}
			t = show.NewTable(right...)
			t.Fit(width)
			head := append(slices.Clone(one.def.By), "window")
			for _, value := range one.def.Values {
				head = append(head, value.Name)
			}
			t.Row(append(head, "")...)
		}
		t.Row(one.cells()...)
		for _, flag := range one.Flags {
			t.Row("  flag: " + flag)
		}
	}
	if t != nil {
		t.Print(b)
	}
}

func (s *View) cells() []string {
	var cells []string
	for _, name := range s.def.By {
		cells = append(cells, show.Text(s.By[name]))
	}
	cells = append(cells, s.window())
	for _, value := range s.def.Values {
		text := "-"
		if v, ok := s.shown[value.Name]; ok {
			text = v.Text
		}
		cells = append(cells, text)
	}
	note := ""
	switch {
	case s.Missing && s.Building:
		note = "nothing is stored, and older events are not counted yet"
	case s.Missing:
		note = "nothing stored"
	case s.Building:
		note = "building"
	}
	return append(cells, note)
}

// window names the window.
func (s *View) window() string {
	var start time.Time
	switch {
	case s.Window != nil:
		start = *s.Window
	case s.Missing && s.def.Window != 0:
		return "-" // it stands for all windows that were asked for
	}
	return show.Window(s.def, start)
}

// Bars draws the first value of each window, if all windows are of one total. With several totals,
// the bars would not show which total they belong to.
func Bars(b *strings.Builder, def *aggregate.Definition, list []View, width int) {
	if len(list) < 2 || def.Window == 0 || len(def.Values) == 0 ||
		slices.ContainsFunc(list, func(one View) bool { return !maps.Equal(one.By, list[0].By) }) {
		return
	}
	name := def.Values[0].Name
	var most big.Rat
	values := make([]*big.Rat, len(list))
	for i, one := range list {
		v, ok := new(big.Rat).SetString(one.shown[name].Number)
		if !ok || v.Sign() < 0 {
			v = new(big.Rat)
		}
		if values[i] = v; v.Cmp(&most) > 0 {
			most.Set(v)
		}
	}
	if most.Sign() == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %s\n", name)
	room := width - 26
	for i, one := range list {
		share, _ := new(big.Rat).Quo(values[i], &most).Float64()
		fmt.Fprintf(b, "  %-20s  %s\n", one.window(), strings.Repeat("█", int(math.Round(share*float64(room)))))
	}
}

// CSV writes the totals as CSV, for a spreadsheet.
func CSV(w io.Writer, def *aggregate.Definition, list []View) error {
	out := csv.NewWriter(w)
	row := append([]string{}, def.By...)
	row = append(row, "window")
	for _, value := range def.Values {
		row = append(row, show.Columns(value)...)
	}
	_ = out.Write(append(row, "building", "flags"))
	for _, one := range list {
		row = row[:0]
		for _, name := range def.By {
			row = append(row, show.Cell(one.By[name]))
		}
		window := ""
		if one.Window != nil {
			window = one.Window.Format(time.RFC3339)
		}
		row = append(row, window)
		for _, value := range def.Values {
			cells := one.shown[value.Name].Cells
			if cells == nil {
				cells = make([]string, len(show.Columns(value)))
			}
			row = append(row, cells...)
		}
		_ = out.Write(append(row, fmt.Sprint(one.Building), show.Cell(strings.Join(one.Flags, "; "))))
	}
	out.Flush()
	return out.Error()
}
