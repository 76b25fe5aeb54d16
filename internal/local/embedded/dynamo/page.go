package dynamo

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// page gathers one answer of a Query or Scan.
type page struct {
	b      expr.Binding
	filter *expr.Condition
	names  []string // the projected attributes; nil means all
	limit  int32    // 0 means no limit
	counts bool     // it has no items, only how many there are

	items   []map[string]types.AttributeValue
	count   int32
	scanned int32
	size    int
	last    *value.Item // the last item read, if the page ended before the rows did
}

func (ts *Service) newPage(call string, filter, projected *string, names map[string]string, values map[string]types.AttributeValue,
	keys *expr.Uses, limit *int32, sel types.Select) (*page, error) {
	p := &page{items: []map[string]types.AttributeValue{}}
	var err error
	switch {
	case sel == types.SelectCount && projected != nil:
		return nil, api.Invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case sel == types.SelectCount:
		p.counts, p.items = true, nil
	case sel != "":
		return nil, api.Unsupported(call, "Select "+string(sel))
	}
	if p.filter, err = ts.parsed.Condition(call, "FilterExpression", filter); err != nil {
		return nil, err
	}
	projection, err := ts.parsed.Projection(call, projected)
	if err != nil {
		return nil, err
	}
	if p.b, err = expr.Bind(names, values, keys, p.filter.Use(), projection.Use()); err != nil {
		return nil, err
	}
	if err := p.filter.Check(p.b); err != nil {
		return nil, err
	}
	if p.names, err = projection.Names(p.b); err != nil {
		return nil, err
	}
	if limit != nil {
		if *limit < 1 {
			where := fmt.Sprintf("Value '%d' at 'limit'", *limit)
			if call == "Query" { // as the service says it
				where = "Value at 'Limit'"
			}
			return nil,
				api.Invalid(
					"1 validation error detected: %s failed to satisfy constraint: Member must have value greater than or equal to 1",
					where)
		}
		p.limit = *limit
	}
	return p, nil
}

// take reads one item into the page, and reports whether there is room for more.
func (p *page) take(it *value.Item) bool {
	p.scanned++
	p.size += it.Size
	if p.filter.Eval(p.b, it) {
		if p.count++; !p.counts {
			p.items = append(p.items, it.Project(p.names))
		}
	}
	if p.scanned == p.limit || p.size >= maxPageSize {
		p.last = it
		return false
	}
	return true
}

func (p *page) cost(ix *index, consistent bool) cost {
	units := value.ReadUnits(p.size, consistent)
	if ix != nil {
		return cost{indexes: []indexCost{{ix.name, units}}}
	}
	return cost{table: units}
}

func (p *page) lastKey(t *table, ix *index) map[string]types.AttributeValue {
	if p.last == nil {
		return nil
	}
	out := t.keyMap(p.last)
	if ix != nil {
		for _, name := range ix.schema.names() {
			out[name] = p.last.Get(name)
		}
	}
	return out
}
