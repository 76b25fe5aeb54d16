package read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/base/nearest"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

const totalsJSON = ` an array with one object for each total
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

With --top, it shows the totals of one window with the greatest values, if the aggregate declares rank. If the rank is
within some values of by, give the fields of these. --from is any time in the window. Without --from, it is the window
of now.

If you give fewer fields than by needs, the whole table must be scanned. That needs --scan, and the command shows the
price first. Each field that you give is then compared with the value of by that has the same name.

` + byHelp + `

` + command.FieldsHelp + `

--output may also be csv, for spreadsheets.

Exit code 5: it needs --scan.`,
		Example: `  ingot totals orders_daily merchant_id=m-1 currency=EUR --local
  ingot totals orders_daily merchant_id=m-1 currency=EUR --from 2026-03-01 --to 2026-04-01 --local
  ingot totals orders_daily --scan --local --output csv
  ingot totals orders_daily merchant_id=m-1 currency=EUR --local --output json`,
		Annotations: map[string]string{command.CSV: "true"},
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("name the aggregate, and the fields of its by, such as: ingot totals orders_daily merchant_id=m-1")
			}
			return a.totals(cmd, args[0], args[1:], o)
		},
	}
	command.OnPipeline(cmd, totalsJSON)
	cmd.Flags().StringVar(&o.from, "from", "",
		"the first window: a day such as 2026-03-01, or an RFC 3339 time (default the first one that is stored)")
	cmd.Flags().StringVar(&o.to, "to", "", "end before this window (default after the last one)")
	cmd.Flags().IntVar(&o.top, "top", 0, "show this many totals with the greatest values, of an aggregate with rank: 1 to 1000")
	cmd.Flags().BoolVar(&o.scan, "scan", false, "read the whole table of totals if the fields are fewer than by needs")
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	return cmd
}

func (a *app) totals(cmd *cobra.Command, name string, words []string, o totalsOptions) error {
	from, err := parseBound("from", o.from)
	if err != nil {
		return cli.Usage(err)
	}
	to, err := parseBound("to", o.to)
	if err != nil {
		return cli.Usage(err)
	}
	given, names, err := a.NamedFields(words)
	if err != nil {
		return err
	}
	t, p, err := a.Reach(cmd.Context(), command.Use{Hashes: len(given) > 0})
	if err != nil {
		return err
	}
	def, ok := p.Definition(name)
	if !ok {
		return cli.Usagef("%w%s", noAggregate(p, name), a.orNewer())
	}
	st, err := store.New(tables.Config{Client: t.DynamoDB(), Pipeline: p, Aggregates: t.AggregatesTable, Concurrency: 8})
	if err != nil {
		return err
	}
	mask := show.Masks(p, o.reveal)
	if def.Window == 0 && (o.from != "" || o.to != "") {
		return cli.Usagef("--from and --to choose windows, and %s has none: its totals are of all time; leave --from and --to out",
			name)
	}
	if cmd.Flags().Changed("top") {
		if def.Window != 0 && from.IsZero() {
			from = a.Clock.Real().Now()
		}
		within, err := listAsked(p, def, given, names)
		if err != nil {
			return err
		}
		list, err := topTotals(cmd.Context(), st, def, within, from, o, mask)
		if err != nil {
			return err
		}
		if def.Window != 0 && o.from == "" {
			a.Say("this is the window of now, %s; for another one, write a time in it, such as --from 2026-03-01",
				show.Window(def, time.Unix(lanes.WindowStart(def, from), 0)))
		}
		return a.writeTotals(def, list, false)
	}
	by, err := valuesOfBy(p, totalOf(def), given, names)
	var list []totals.View
	switch {
	case err != nil && !errors.As(err, new(errNotOne)) && !o.scan:
		return err
	case err == nil:
		all, err := query.Of(st).Total(cmd.Context(), name, by, from, to)
		if err != nil {
			return unlessOfService(err)
		}
		for _, total := range all {
			list = append(list, totals.Of(def, by, total, mask))
		}
	case !o.scan:
		return cli.Refusedf("%w, or read the whole table with --scan%s", err, orTop(def))
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
	within := ""
	if len(def.Rank.Within) > 0 {
		within = " and " + show.And(assigned(def.Rank.Within))
	}
	return ", or those with the greatest " + def.Rank.Value + " with --top" + within
}

// listAsked computes which list of totals the fields choose.
func listAsked(p *pipeline.Pipeline, def *aggregate.Definition, given map[string]any, names []string) (map[string]string, error) {
	switch {
	case len(def.Rank.Within) > 0:
		list, err := valuesOfBy(p, listOf(def), given, names)
		if err != nil {
			return nil, cli.Usage(err)
		}
		return list, nil
	case len(given) > 0:
		return nil, cli.Usagef("--top ranks all totals of a window: leave the fields out")
	}
	return nil, nil
}

// topTotals reads the totals with the greatest values of one list.
func topTotals(ctx context.Context, st *store.Store, def *aggregate.Definition, within map[string]string, from time.Time,
	o totalsOptions, mask show.Personal) ([]totals.View, error) {
	if o.scan || o.to != "" {
		return nil, cli.Usagef("--top reads one window through an index: leave --scan and --to out")
	}
	top, err := query.Of(st).Top(ctx, def.Name, within, from, o.top)
	if err != nil {
		return nil, unlessOfService(err)
	}
	var list []totals.View
	for _, total := range top {
		list = append(list, totals.Of(def, total.By, total, mask))
	}
	return list, nil
}

// unlessOfService returns a usage error, unless the error comes from a service.
func unlessOfService(err error) error {
	if errors.As(err, new(*smithy.OperationError)) {
		return err
	}
	return cli.Usage(err)
}

// noAggregate says which aggregates there are.
func noAggregate(p *pipeline.Pipeline, name string) error {
	names := slices.Sorted(maps.Keys(p.Describe().Spec.Aggregates))
	switch best := nearest.Name(name, names); {
	case best != "":
		return fmt.Errorf("there is no aggregate %q; did you mean %s?", name, best)
	case len(names) == 0:
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
	return time.Time{}, fmt.Errorf("--%s %q: write a day as in 2026-03-01, a month, a year, or a time as in 2026-03-01T12:00:00Z",
		flag, text)
}

// scanTotals reads the whole table of totals and keeps those of one aggregate.
func (a *app) scanTotals(ctx context.Context, t *target.Target, st *store.Store, def *aggregate.Definition, given map[string]any, from,
	to time.Time, mask show.Personal) ([]totals.View, error) {
	want := map[string]string{}
	for name, value := range given {
		if text, ok := value.(string); ok && slices.Contains(def.By, name) {
			want[name] = keys.Escape(text)
			continue
		}
		return nil, cli.Usagef("--scan compares with the values of by, which are %s; there is none called %s", strings.Join(def.By, ", "),
			name)
	}
	if err := pass.Say(ctx, a.Stderr, t, t.AggregatesTable); err != nil {
		return nil, err
	}
	return totals.Scan(ctx, st, def, want, from, to, mask)
}

// writeTotals writes totals. On a terminal, windows also get bars.
func (a *app) writeTotals(def *aggregate.Definition, list []totals.View, withBars bool) error {
	switch {
	case a.Output == "csv":
		return totals.CSV(a.Stdout, def, list)
	case a.JSON():
		if list == nil {
			list = []totals.View{}
		}
		return a.WriteJSON(list)
	case len(list) == 0:
		a.Say("no total of %s is stored for this", def.Name)
		return nil
	}
	var b strings.Builder
	totals.Table(&b, list, a.Columns, false)
	if a.Columns > 0 && withBars {
		totals.Bars(&b, def, list, a.Columns)
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}
