package embedded

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// mutation is one conditional write of one item, alone or in a transaction.
type mutation struct {
	t     *table
	key   key
	cond  *condition
	b     binding
	asked types.ReturnValuesOnConditionCheckFailure

	// What to do when the condition holds: store put, or apply update (which may be nil: an update without
	// expression creates the bare item), or remove, or nothing (check).
	do     deed
	put    *item
	update *update
}

type deed uint8

const (
	doPut deed = iota
	doUpdate
	doRemove
	doCheck
)

// plan judges the condition against the stored item and computes the new one; nothing is changed yet.
// holds is false if the condition failed.
func (m *mutation) plan() (old, new *item, holds bool, err error) {
	old = m.t.get(m.key)
	holds, err = m.cond.eval(m.b, old)
	if err != nil || !holds {
		return old, nil, false, err
	}
	switch m.do {
	case doPut:
		return old, m.put, true, nil
	case doUpdate:
		new, err = m.updated(old)
		return old, new, true, err
	case doRemove:
		return old, nil, true, nil
	default:
		return old, old, true, nil
	}
}

func (m *mutation) updated(old *item) (*item, error) {
	var it *item
	if old != nil {
		it = old.draft()
	} else {
		it = m.t.bare(m.key)
	}
	if m.update != nil {
		if err := m.update.apply(m.b, old, it); err != nil {
			return nil, err
		}
	}
	it.measure()
	if it.size > maxItemSize {
		return nil, invalid("Item size to update has exceeded the maximum allowed size")
	}
	return it, m.t.checkIndexKeys(it)
}

// bare is the item that holds its key only.
func (t *table) bare(k key) *item {
	it := &item{pk: k.pk, sk: k.sk, attrs: make([]attribute, 0, 8)}
	it.set(t.schema.pk, &types.AttributeValueMemberS{Value: k.pk})
	if t.schema.sk != "" {
		it.set(t.schema.sk, &types.AttributeValueMemberS{Value: k.sk})
	}
	return it
}

// run executes a write on its own. A failed condition is charged like the write it prevented.
func (ts *tables) run(m *mutation) (old, new *item, spent cost, err error) {
	old, new, holds, err := m.plan()
	if err != nil {
		return nil, nil, cost{}, err
	}
	if !holds {
		ts.e.meter.wrote(m.t.name, attempt(old, m.put))
		return nil, nil, cost{}, conditionFailed(old, m.asked)
	}
	spent = m.t.commit(old, new, ts.e.now(), nil)
	ts.e.meter.wrote(m.t.name, spent)
	return old, new, spent, nil
}

// newPut checks and copies an item on its way into a table.
func (t *table) newPut(in map[string]types.AttributeValue) (*item, error) {
	it, err := newItem(in)
	if err != nil {
		return nil, err
	}
	if err := t.identify(it); err != nil {
		return nil, err
	}
	if it.size > maxItemSize {
		return nil, invalid("Item size has exceeded the maximum allowed size")
	}
	return it, nil
}
