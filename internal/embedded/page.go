package embedded

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// page gathers one answer of a Query or Scan.
type page struct {
	b      binding
	filter *condition
	names  []string // projected; nil: all
	limit  int32    // 0: none

	items   []map[string]types.AttributeValue
	scanned int32
	size    int
	last    *item // the last item read, if the page ended before the rows did
}

func (ts *tables) newPage(api string, filter, projected *string, names map[string]string, values map[string]types.AttributeValue, keys *uses, limit *int32) (*page, error) {
	p := &page{items: []map[string]types.AttributeValue{}}
	var err error
	if p.filter, err = ts.parsed.condition(api, "FilterExpression", filter); err != nil {
		return nil, err
	}
	projection, err := ts.parsed.projection(api, projected)
	if err != nil {
		return nil, err
	}
	if p.b, err = bind(names, values, keys, p.filter.use(), projection.use()); err != nil {
		return nil, err
	}
	if p.names, err = projection.names(p.b); err != nil {
		return nil, err
	}
	if limit != nil {
		if *limit < 1 {
			return nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *limit)
		}
		p.limit = *limit
	}
	return p, nil
}

// checkFilter: the key attributes of what a Query reads may not be filtered on.
func (p *page) checkFilter(s schema) error {
	if p.filter == nil {
		return nil
	}
	return p.checkNode(p.filter.root, s)
}

func (p *page) checkNode(n *node, s schema) error {
	for _, child := range n.children {
		if err := p.checkNode(child, s); err != nil {
			return err
		}
	}
	for _, o := range n.operands {
		if !o.value && s.has(p.b.name(o.text)) {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", p.b.name(o.text))
		}
	}
	return nil
}

// take reads one item into the page and says whether there is room for more.
func (p *page) take(it *item) (bool, error) {
	p.scanned++
	p.size += it.size
	ok, err := p.filter.eval(p.b, it)
	if err != nil {
		return false, err
	}
	if ok {
		p.items = append(p.items, it.project(p.names))
	}
	if p.scanned == p.limit || p.size >= maxPageSize {
		p.last = it
		return false, nil
	}
	return true, nil
}

func (p *page) cost(ix *index, consistent bool) cost {
	units := readUnits(p.size, consistent)
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
			out[name] = p.last.get(name)
		}
	}
	return out
}
