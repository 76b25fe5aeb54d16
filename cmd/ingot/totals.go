package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/scan"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

const totalsJSON = `With --output json, an array with one object for each total:
  aggregate, since        the name, and its since in pipeline.yaml
  by                      the values of by, by name
  window                  the start of its window; absent without windows
  values                  by name. Numbers are text, because they are exact. A histogram has count, p50, p90, p99
                          and their error; distinct has estimate and its standard error; newest and oldest have at
                          and value. Personal values are ***
  flags[]                 why the values are not proven
  building, missing       building: older items may not be counted yet; missing: no such total is stored`

type totalsOptions struct {
	from, to     string
	scan, reveal bool
	top          int
}

func newTotals(a *app) *cobra.Command {
	var o totalsOptions
	cmd := &cobra.Command{
		Use:   "totals NAME [FIELD=VALUE…]",
		Short: "Show totals of an aggregate, as a table, bars, JSON or CSV",
		Long: `Reads the totals of one aggregate. You give the fields that its by is made of. --from and --to select windows: those
that start at --from or later, and before --to. The command sends one Query, or as many as the aggregate's spread.
On a terminal, each window of one total has a bar for its first value. Totals follow the events with the lag of the
stream.

With --top, it shows the totals of one window with the greatest values instead, if the aggregate declares rank. --from
is then any time in that window. Without --from, it is the window of now.

If you give fewer fields than by needs, the whole table must be scanned. That needs --scan, and the command shows the
price first. Each field that you give is then compared with the value of by that has the same name.

` + byHelp + `

` + fieldsHelp + `

` + targetHelp + `

Values that pipeline.yaml hashes are personal and are masked, unless --reveal is given.

Exit codes: 0 shown, 1 failed, 2 usage, 4 credentials, 5 refused: it needs --scan.

--output is text, json or csv.
` + totalsJSON,
		Example: `  ingot totals orders_daily merchant_id=m-1 currency=EUR --local
  ingot totals orders_daily merchant_id=m-1 currency=EUR --from 2026-03-01 --to 2026-04-01 --local
  ingot totals orders_daily --scan --local --output csv
  ingot totals orders_daily merchant_id=m-1 currency=EUR --local --output json`,
		Annotations: map[string]string{csvToo: "true"},
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("name the aggregate, and the fields of its by, such as: ingot totals orders_daily merchant_id=m-1"))
			}
			return a.totals(cmd, args[0], args[1:], o)
		},
	}
	targetFlags(cmd)
	deployedFlag(cmd)
	cmd.Flags().StringVar(&o.from, "from", "", "the first window: a day such as 2026-03-01, or an RFC 3339 time (default the first one that is stored)")
	cmd.Flags().StringVar(&o.to, "to", "", "end before this window (default after the last one)")
	cmd.Flags().IntVar(&o.top, "top", 0, "show this many totals with the greatest values, of an aggregate with rank: 1 to 1000")
	cmd.Flags().BoolVar(&o.scan, "scan", false, "read the whole table of totals if the fields are fewer than by needs")
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, "show personal values")
	return cmd
}

// shownTotal is a total as commands show it.
type shownTotal struct {
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

func totalOf(def *aggregate.Definition, by map[string]string, t store.Total, mask show.Personal) shownTotal {
	s := shownTotal{Aggregate: def.Name, Since: def.Since, By: mask.By(def.Name, by), Values: map[string]any{}, shown: shownValues(def, t, mask), Flags: append([]string{}, mask.All(t.Flags)...), Building: t.Building, Missing: t.Missing, def: def}
	if def.Window != 0 && !t.Window.IsZero() {
		s.Window = &t.Window
	}
	for name, value := range s.shown {
		s.Values[name] = value.JSON
	}
	return s
}

// shownValues returns the values of a total by their names. A total that is not stored has none.
func shownValues(def *aggregate.Definition, t store.Total, mask show.Personal) map[string]show.Value {
	if t.Missing {
		return map[string]show.Value{}
	}
	return mask.Values(def, func(name string) aggregate.Amount { return show.AmountOf(name, t.Values, t.Texts) })
}

func (a *app) totals(cmd *cobra.Command, name string, words []string, o totalsOptions) error {
	from, err := parseBound("from", o.from)
	if err != nil {
		return usage(err)
	}
	to, err := parseBound("to", o.to)
	if err != nil {
		return usage(err)
	}
	given, names, err := a.namedFields(words)
	if err != nil {
		return err
	}
	t, err := a.find(cmd)
	if err != nil {
		return err
	}
	p, err := a.deployed(cmd, t, len(given) > 0, false)
	if err != nil {
		return err
	}
	def, ok := p.Definition(name)
	if !ok {
		return usage(noAggregate(p, name))
	}
	st, err := store.New(store.Config{Client: t.DynamoDB(), Pipeline: p, Aggregates: t.AggregatesTable, Concurrency: 8})
	if err != nil {
		return err
	}
	mask := show.PersonalOf(p)
	if o.reveal {
		mask = show.Personal{}
	}
	if def.Window == 0 && (o.from != "" || o.to != "") {
		return usage(fmt.Errorf("--from and --to choose windows, and %s has none: its totals are of all time; leave --from and --to out", name))
	}
	if cmd.Flags().Changed("top") {
		if def.Window != 0 && from.IsZero() {
			from = a.clock.Real().Now()
		}
		list, err := topTotals(cmd.Context(), st, def, given, from, o, mask)
		if err != nil {
			return err
		}
		if def.Window != 0 && o.from == "" {
			fmt.Fprintf(a.stderr, "ingot: this is the window of now, %s; for another one, write a time in it, such as --from 2026-03-01\n",
				show.Window(def, time.Unix(lanes.WindowStart(def, from), 0)))
		}
		return a.writeTotals(def, list, false)
	}
	by, err := valuesOfBy(p, def, given, names)
	var list []shownTotal
	switch {
	case err != nil && !errors.As(err, new(errNotOne)) && !o.scan:
		return err
	case err == nil:
		totals, err := st.Total(cmd.Context(), name, by, from, to)
		if err != nil {
			return unlessOfService(err)
		}
		for _, total := range totals {
			list = append(list, totalOf(def, by, total, mask))
		}
	case !o.scan:
		return refused(fmt.Errorf("%w, or read the whole table with --scan%s", err, orTop(def)))
	default:
		if list, err = a.scanTotals(cmd.Context(), t, st, def, given, from, to, mask); err != nil {
			return err
		}
	}
	return a.writeTotals(def, list, true)
}

// orTop names the other way to list totals, if there is one.
func orTop(def *aggregate.Definition) string {
	if def.Rank.Value == "" {
		return ""
	}
	return ", or those with the greatest " + def.Rank.Value + " with --top"
}

// topTotals reads the totals with the greatest values of one window.
func topTotals(ctx context.Context, st *store.Store, def *aggregate.Definition, given map[string]any, from time.Time, o totalsOptions, mask show.Personal) ([]shownTotal, error) {
	switch {
	case len(given) > 0:
		return nil, usage(errors.New("--top ranks all totals of a window: leave the fields out"))
	case o.scan || o.to != "":
		return nil, usage(errors.New("--top reads one window through an index: leave --scan and --to out"))
	}
	top, err := st.Top(ctx, def.Name, from, o.top)
	if err != nil {
		return nil, unlessOfService(err)
	}
	var list []shownTotal
	for _, total := range top {
		list = append(list, totalOf(def, total.By, total, mask))
	}
	return list, nil
}

// unlessOfService returns a usage error, unless the error comes from a service.
func unlessOfService(err error) error {
	if errors.As(err, new(*smithy.OperationError)) {
		return err
	}
	return usage(err)
}

// noAggregate says which aggregates there are.
func noAggregate(p *pipeline.Pipeline, name string) error {
	var names []string
	for _, def := range p.Definitions() {
		if distance(def.Name, name) <= len(name)/2 {
			return fmt.Errorf("there is no aggregate %q; did you mean %s?", name, def.Name)
		}
		names = append(names, def.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no aggregate %q; the pipeline has none", name)
	}
	return fmt.Errorf("there is no aggregate %q; there are %s", name, strings.Join(names, ", "))
}

// parseBound reads --from or --to.
func parseBound(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01", "2006"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--%s %q: write a day as in 2026-03-01, a month, a year, or a time as in 2026-03-01T12:00:00Z", flag, text)
}

// scanTotals reads the whole table of totals and keeps those of one aggregate.
func (a *app) scanTotals(ctx context.Context, t *target.Target, st *store.Store, def *aggregate.Definition, given map[string]any, from, to time.Time, mask show.Personal) ([]shownTotal, error) {
	want := map[string]string{}
	for name, value := range given {
		if text, ok := value.(string); ok && slices.Contains(def.By, name) {
			want[name] = keys.Escape(text)
			continue
		}
		return nil, usage(fmt.Errorf("--scan compares with the values of by, which are %s; there is none called %s", strings.Join(def.By, ", "), name))
	}
	if err := scan.Say(ctx, a.stderr, t, t.AggregatesTable); err != nil {
		return nil, err
	}
	head, err := st.Head(ctx, def)
	if err != nil {
		return nil, err
	}
	sums := map[string]*store.Total{}
	addresses := map[string]aggregate.Address{}
	for total, err := range st.Totals(ctx) {
		if err != nil {
			return nil, err
		}
		at := total.Address
		if at.Name != def.Name || at.Since != def.Since || total.ExpiresAt != 0 && total.ExpiresAt <= time.Now().Unix() {
			continue
		}
		if start := time.Unix(at.Window, 0); at.Window != aggregate.NoWindow && (!from.IsZero() && start.Before(from) || !to.IsZero() && !start.Before(to)) {
			continue
		}
		other := false
		for i, name := range def.By {
			if value, asked := want[name]; asked && at.By[i] != value {
				other = true
			}
		}
		if other {
			continue
		}
		id := strings.Join(at.By, "#") + fmt.Sprintf(" %020d", at.Window)
		addresses[id] = at
		add(sums, id, def, head, total)
	}
	var list []shownTotal
	for _, id := range sortedKeys(sums) {
		list = append(list, totalOf(def, lanes.Group(def, addresses[id].By), *sums[id], mask))
	}
	return list, nil
}

// add adds one part of a spread to its total.
func add(sums map[string]*store.Total, id string, def *aggregate.Definition, head *store.Head, part store.StoredTotal) {
	sum := sums[id]
	if sum == nil {
		sum = &store.Total{Values: map[string]event.Decimal{}, Texts: map[string]string{}}
		if part.Address.Window != aggregate.NoWindow {
			sum.Window = time.Unix(part.Address.Window, 0).UTC()
		}
		if head != nil {
			sum.Building, sum.Flags = head.Building, head.Flags()
		}
		sums[id] = sum
	}
	for _, v := range def.Values {
		a := lanes.Merge(v.Op, show.AmountOf(v.Name, sum.Values, sum.Texts), show.AmountOf(v.Name, part.Values, part.Texts))
		switch {
		case !a.Set:
		case v.Op.Textual():
			sum.Texts[v.Name] = a.Text
		default:
			sum.Values[v.Name] = a.Number
		}
	}
	for _, flag := range part.Flags() {
		if !slices.Contains(sum.Flags, flag) {
			sum.Flags = append(sum.Flags, flag)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for key := range m {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}

// writeTotals writes totals. On a terminal, windows also get bars.
func (a *app) writeTotals(def *aggregate.Definition, list []shownTotal, withBars bool) error {
	switch {
	case a.output == "csv":
		return totalsCSV(a.stdout, def, list)
	case a.json():
		if list == nil {
			list = []shownTotal{}
		}
		return a.writeJSON(list)
	case len(list) == 0:
		fmt.Fprintf(a.stderr, "ingot: no total of %s is stored for this\n", def.Name)
		return nil
	}
	var b strings.Builder
	totalsTable(&b, list, a.columns, false)
	if a.columns > 0 && withBars {
		bars(&b, def, list, a.columns)
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// totalsTable writes one line for each total. named says whether the aggregate is named in each.
func totalsTable(b *strings.Builder, list []shownTotal, width int, named bool) {
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
			t.Row("  flag: " + show.Text(flag))
		}
	}
	if t != nil {
		t.Print(b)
	}
}

func (s *shownTotal) cells() []string {
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
func (s *shownTotal) window() string {
	var start time.Time
	switch {
	case s.Window != nil:
		start = *s.Window
	case s.Missing && s.def.Window != 0:
		return "-" // it stands for all windows that were asked for
	}
	return show.Window(s.def, start)
}

// bars draws the first value of each window, if all windows are of one total. With several totals,
// the bars would not show which total they belong to.
func bars(b *strings.Builder, def *aggregate.Definition, list []shownTotal, width int) {
	if len(list) < 2 || def.Window == 0 || len(def.Values) == 0 ||
		slices.ContainsFunc(list, func(one shownTotal) bool { return !maps.Equal(one.By, list[0].By) }) {
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

// totalsCSV writes the totals as CSV, for a spreadsheet.
func totalsCSV(w io.Writer, def *aggregate.Definition, list []shownTotal) error {
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
