package console

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
)

// maxGroups is how many groups a list has at most. scanned is how many groups a scan keeps in
// memory at most.
const (
	maxGroups = 50
	scanned   = 100_000
)

// Totals reads the totals of one aggregate: those of one group by its key, or all of them by a
// scan.
func (t *Resources) Totals(ctx context.Context, c Choice) (*Totals, error) {
	st, p, err := t.store()
	if err != nil {
		return nil, err
	}
	def, there := p.Definition(c.Aggregate)
	if !there {
		return nil, &mistake{fmt.Sprintf("there is no aggregate %q in pipeline.yaml", c.Aggregate)}
	}
	if len(c.By) == 0 && len(def.By) > 0 {
		if !c.Scan {
			price, err := t.price(ctx)
			return &Totals{Price: price}, err
		}
		return t.groups(ctx, st, def, c.Value)
	}
	found, err := query.Of(st).Total(ctx, c.Aggregate, c.By, time.Time{}, time.Time{})
	if err != nil {
		return nil, &mistake{err.Error()}
	}
	out := &Totals{Windows: []Window{}}
	for _, one := range found {
		out.Building = out.Building || one.Building
		if one.Missing {
			out.Flags = append(out.Flags, t.personal().All(one.Flags)...)
			continue
		}
		w := Window{Values: t.amounts(def, one.Values, one.Texts), Name: show.Window(def, one.Window), N: one.N,
			Flags: t.personal().All(one.Flags)}
		if def.Window > 0 {
			w.Start = &one.Window
		}
		out.Windows = append(out.Windows, w)
	}
	return out, nil
}

// price says what a scan of the aggregates table costs.
func (t *Resources) price(ctx context.Context) (string, error) {
	out, err := t.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Aggregates})
	if err != nil {
		return "", fmt.Errorf("the table of the totals cannot be described: %w", err)
	}
	bytes, items := aws.ToInt64(out.Table.TableSizeBytes), aws.ToInt64(out.Table.ItemCount)
	return fmt.Sprintf(
		"A list of all groups reads the whole table of totals: about %s read units for %s items. The service counts both every six hours.",
		show.Comma(int((bytes+4095)/4096)), show.Comma(int(items))), nil
}

// groups scans the totals of one aggregate, and lists its groups with the largest of one value
// first.
func (t *Resources) groups(ctx context.Context, st *store.Store, def *aggregate.Definition, by string) (*Totals, error) {
	type sum struct {
		by      []string
		windows map[int64]bool
		size    event.Decimal // by which the groups are sorted
		values  map[string]aggregate.Amount
	}
	sums, out, now := map[string]*sum{}, &Totals{Groups: []Group{}}, t.now().Unix()
	for one, err := range st.Totals(ctx) {
		if err != nil {
			return nil, fmt.Errorf("the totals cannot be read: %w", err)
		}
		if one.Address.Name != def.Name || one.Address.Since != def.Since || one.ExpiresAt != 0 && one.ExpiresAt <= now {
			continue
		}
		id := strings.Join(one.Address.By, "#")
		s := sums[id]
		if s == nil {
			if len(sums) == scanned {
				return nil, &mistake{fmt.Sprintf("%s has more than %s groups; name one above", def.Name, show.Comma(scanned))}
			}
			s = &sum{by: one.Address.By, windows: map[int64]bool{}, values: map[string]aggregate.Amount{}}
			sums[id] = s
		}
		s.windows[one.Address.Window] = true
		show.Sum(s.values, def, one)
	}
	op := aggregate.Count // without a value of this name, the order is that of the groups
	for _, v := range def.Values {
		if v.Name == by {
			op = v.Op
		}
	}
	for _, s := range sums {
		s.size = size(op, s.values[by])
	}
	list := slices.SortedFunc(maps.Values(sums), func(a, b *sum) int {
		return cmp.Or(b.size.Cmp(a.size), slices.Compare(a.by, b.by))
	})
	out.More = max(0, len(list)-maxGroups)
	personal := t.personal()
	for _, s := range list[:min(len(list), maxGroups)] {
		g := Group{Windows: len(s.windows), Values: t.shown(def, func(name string) aggregate.Amount {
			return s.values[name]
		}), By: make([]string, len(def.By))}
		by := lanes.Group(def, s.by)
		masked := personal.By(def.Name, by)
		for i, name := range def.By {
			g.By[i] = masked[name]
			g.Hidden = g.Hidden || masked[name] != by[name]
		}
		out.Groups = append(out.Groups, g)
	}
	head, err := st.Head(ctx, def)
	if err == nil && head != nil {
		out.Building, out.Flags = head.Building, t.personal().All(head.Flags())
	}
	return out, err
}

// size is the number by which groups are sorted. Values without one are equal.
func size(op aggregate.Op, a aggregate.Amount) event.Decimal {
	if !op.Textual() {
		return a.Number
	}
	v, _ := show.ValueOf(op, a)
	number, err := event.ParseDecimal(v.Number)
	if err != nil {
		return event.Decimal{}
	}
	return number
}

// amounts returns the values of one total as they are shown.
func (t *Resources) amounts(def *aggregate.Definition, numbers map[string]event.Decimal, texts map[string]string) map[string]Amount {
	return t.shown(def, func(name string) aggregate.Amount { return show.AmountOf(name, numbers, texts) })
}

// shown returns the values of a stored total as they are shown: see [show.Personal.Values].
func (t *Resources) shown(def *aggregate.Definition, amount func(name string) aggregate.Amount) map[string]Amount {
	out := map[string]Amount{}
	for name, value := range t.personal().Values(def, amount) {
		out[name] = Amount{value.Text, value.Number}
	}
	return out
}

// window returns the length of windows as pipeline.yaml writes it.
func window(def *aggregate.Definition) string {
	switch {
	case def.Months >= 12:
		return lifetime.FormatWindow(lifetime.Year)
	case def.Months > 0:
		return lifetime.FormatWindow(lifetime.Month)
	}
	return lifetime.FormatWindow(def.Window)
}
