package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// mutation is one conditional write of one item, alone or in a transaction.
type mutation struct {
	t     *table
	key   key
	cond  *expr.Condition
	b     expr.Binding
	asked types.ReturnValuesOnConditionCheckFailure

	// do says what to do when the condition holds: store put, apply update, remove the item, or do
	// nothing (check). update may be nil: an update without an expression creates the bare item.
	do     deed
	put    *value.Item
	update *expr.Update
}

type deed uint8

const (
	doPut deed = iota
	doUpdate
	doRemove
	doCheck
)

// plan checks the condition against the stored item and computes the new item. It changes nothing
// yet. holds is false if the condition failed.
func (m *mutation) plan() (old, new *value.Item, holds bool, err error) {
	old = m.t.get(m.key)
	if !m.cond.Eval(m.b, old) {
		return old, nil, false, nil
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

func (m *mutation) updated(old *value.Item) (*value.Item, error) {
	var it *value.Item
	if old != nil {
		it = old.Draft()
	} else {
		it = m.t.bare(m.key)
	}
	if m.update != nil {
		if err := m.update.Apply(m.b, old, it); err != nil {
			return nil, err
		}
	}
	it.Measure()
	if it.Size > value.MaxItemSize {
		return nil, api.Invalid("Item size to update has exceeded the maximum allowed size")
	}
	return it, m.t.checkIndexKeys(it)
}

// bare returns an item that has no attributes except its key.
func (t *table) bare(k key) *value.Item {
	it := &value.Item{PK: k.pk, SK: k.sk, Attrs: make([]value.Attribute, 0, 8)}
	it.Set(t.schema.pk, &types.AttributeValueMemberS{Value: k.pk})
	if t.schema.sk != "" {
		it.Set(t.schema.sk, &types.AttributeValueMemberS{Value: k.sk})
	}
	return it
}

// run executes a write on its own. A failed condition costs as much as the write it prevented.
func (ts *Service) run(m *mutation) (old, new *value.Item, spent cost, err error) {
	old, new, holds, err := m.plan()
	if err != nil {
		return nil, nil, cost{}, err
	}
	if !holds {
		ts.refuse(m.t.name, attempt(old, m.put))
		return nil, nil, cost{}, conditionFailed(old, m.asked)
	}
	spent = m.t.commit(old, new, ts.core.Now(), nil)
	ts.wrote(m.t.name, spent)
	return old, new, spent, nil
}

// newPut checks and copies an item on its way into a table.
func (t *table) newPut(in map[string]types.AttributeValue) (*value.Item, error) {
	it, err := value.NewItem(in)
	if err != nil {
		return nil, err
	}
	if err := t.identify(it); err != nil {
		return nil, err
	}
	if it.Size > value.MaxItemSize {
		return nil, api.Invalid("Item size has exceeded the maximum allowed size")
	}
	return it, nil
}
