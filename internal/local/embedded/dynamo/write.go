package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// Client has the method signatures of *dynamodb.Client for the calls that the engine implements.
type Client struct{ ts *Service }

// Client returns the client of the tables.
func (ts *Service) Client() *Client { return &Client{ts} }

// conditionFields are what the writes have in common. There is nothing to return as metrics of item
// collections: these belong to local indexes, which no table has.
const conditionFields = " ConditionExpression ExpressionAttributeNames ExpressionAttributeValues ReturnValuesOnConditionCheckFailure " +
	"ReturnConsumedCapacity ReturnValues ReturnItemCollectionMetrics"

var (
	putItem    = operation("PutItem", "TableName Item"+conditionFields)
	updateItem = operation("UpdateItem", "TableName Key UpdateExpression"+conditionFields)
	deleteItem = operation("DeleteItem", "TableName Key"+conditionFields)

	batchWriteItem = operation("BatchWriteItem", "RequestItems ReturnConsumedCapacity ReturnItemCollectionMetrics")
)

const maxBatchWrites = 25

// PutItem stores an item if its condition holds. It replaces what is there.
func (c *Client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return api.Call(ctx, c.ts.core, putItem, in, c.ts.putItem)
}

// UpdateItem changes an item if its condition holds. It creates the item if there is none.
func (c *Client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	return api.Call(ctx, c.ts.core, updateItem, in, c.ts.updateItem)
}

// DeleteItem removes an item if its condition holds. It also succeeds if there is no item.
func (c *Client) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput,
	error) {
	return api.Call(ctx, c.ts.core, deleteItem, in, c.ts.deleteItem)
}

// BatchWriteItem puts and deletes up to 25 items, each by itself. It leaves nothing unprocessed.
func (c *Client) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return api.Call(ctx, c.ts.core, batchWriteItem, in, c.ts.batchWrite)
}

func (ts *Service) putItem(in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	if err := onlyOld(in.ReturnValues); err != nil {
		return nil, err
	}
	m := &mutation{do: doPut, asked: in.ReturnValuesOnConditionCheckFailure}
	if err := ts.condition("PutItem", m, in.ConditionExpression, nil, in.ExpressionAttributeNames,
		in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	var err error
	if m.t, err = ts.table(in.TableName); err != nil {
		return nil, err
	}
	if m.put, err = m.t.newPut(in.Item); err != nil {
		return nil, err
	}
	m.key = key{m.put.PK, m.put.SK}
	old, _, spent, err := ts.run(m)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.PutItemOutput{ConsumedCapacity: capacity(in.ReturnConsumedCapacity, m.t.name, spent)}
	if in.ReturnValues == types.ReturnValueAllOld {
		out.Attributes = old.Map()
	}
	return out, nil
}

// condition parses the expressions of a write and binds their placeholders.
func (ts *Service) condition(api string, m *mutation, cond, update *string, names map[string]string,
	values map[string]types.AttributeValue) error {
	var err error
	if m.cond, err = ts.parsed.Condition(api, "ConditionExpression", cond); err != nil {
		return err
	}
	if m.update, err = ts.parsed.Update(api, update); err != nil {
		return err
	}
	if m.b, err = expr.Bind(names, values, m.cond.Use(), m.update.Use()); err != nil {
		return err
	}
	return m.cond.Check(m.b)
}

func onlyOld(rv types.ReturnValue) error {
	switch rv {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	}
	return api.Invalid("ReturnValues can only be ALL_OLD or NONE")
}

func (ts *Service) updateItem(in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	m := &mutation{do: doUpdate, asked: in.ReturnValuesOnConditionCheckFailure}
	if err := ts.condition("UpdateItem", m, in.ConditionExpression, in.UpdateExpression, in.ExpressionAttributeNames,
		in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	if err := ts.target("UpdateItem", m, in.TableName, in.Key); err != nil {
		return nil, err
	}
	old, new, spent, err := ts.run(m)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.UpdateItemOutput{ConsumedCapacity: capacity(in.ReturnConsumedCapacity, m.t.name, spent)}
	out.Attributes, err = m.returned(in.ReturnValues, old, new)
	return out, err
}

// target resolves the table and key of an update, removal or check.
func (ts *Service) target(api string, m *mutation, table *string, k map[string]types.AttributeValue) (err error) {
	if m.t, err = ts.table(table); err != nil {
		return err
	}
	if m.key, err = m.t.key(k); err != nil {
		return err
	}
	if m.update != nil {
		return m.update.Check(api, m.t.schema.has, m.b)
	}
	return nil
}

func (m *mutation) returned(rv types.ReturnValue, old, new *value.Item) (map[string]types.AttributeValue, error) {
	switch rv {
	case "", types.ReturnValueNone:
		return nil, nil
	case types.ReturnValueAllOld:
		return old.Map(), nil
	case types.ReturnValueAllNew:
		return new.Map(), nil
	case types.ReturnValueUpdatedOld:
		return m.touched(old), nil
	case types.ReturnValueUpdatedNew:
		return m.touched(new), nil
	}
	return nil, nil // checkForm refuses other values
}

// touched returns the attributes that the update names, with their values in the item.
func (m *mutation) touched(it *value.Item) map[string]types.AttributeValue {
	if m.update == nil || it == nil {
		return nil
	}
	if out := it.Project(m.update.Attributes(m.b)); len(out) > 0 {
		return out
	}
	return nil
}

func (ts *Service) deleteItem(in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	if err := onlyOld(in.ReturnValues); err != nil {
		return nil, err
	}
	m := &mutation{do: doRemove, asked: in.ReturnValuesOnConditionCheckFailure}
	if err := ts.condition("DeleteItem", m, in.ConditionExpression, nil, in.ExpressionAttributeNames,
		in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	if err := ts.target("DeleteItem", m, in.TableName, in.Key); err != nil {
		return nil, err
	}
	old, _, spent, err := ts.run(m)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.DeleteItemOutput{ConsumedCapacity: capacity(in.ReturnConsumedCapacity, m.t.name, spent)}
	if in.ReturnValues == types.ReturnValueAllOld {
		out.Attributes = old.Map()
	}
	return out, nil
}

func (ts *Service) batchWrite(in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
	n := 0
	for _, list := range in.RequestItems {
		n += len(list)
	}
	switch {
	case n == 0:
		return nil, api.Invalid("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Member must have length " +
			"greater than or equal to 1")
	case n > maxBatchWrites:
		return nil, api.Invalid("Too many items requested for the BatchWriteItem call")
	}
	ts.mu.Lock()
	defer ts.unlock()
	all := make([]*mutation, 0, n)
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		t, err := ts.table(&name)
		if err != nil {
			return nil, err
		}
		for _, request := range in.RequestItems[name] {
			m, err := t.batched(request)
			if err == nil && slices.ContainsFunc(all, func(a *mutation) bool { return a.t == m.t && a.key == m.key }) {
				err = api.Invalid("Provided list of item keys contains duplicates")
			}
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	var b bill
	for _, m := range all {
		_, _, spent, err := ts.run(m)
		if err != nil {
			return nil, err
		}
		b.add(m.t.name, spent)
	}
	return &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{},
		ConsumedCapacity: b.capacities(in.ReturnConsumedCapacity)}, nil
}

// batched returns one write of a BatchWriteItem.
func (t *table) batched(r types.WriteRequest) (m *mutation, err error) {
	m = &mutation{t: t, do: doPut}
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return nil, api.Invalid("A WriteRequest must have a PutRequest or a DeleteRequest, and not both")
	case r.DeleteRequest != nil:
		m.do = doRemove
		m.key, err = t.key(r.DeleteRequest.Key)
		return m, err
	}
	if m.put, err = t.newPut(r.PutRequest.Item); err == nil {
		m.key = key{m.put.PK, m.put.SK}
	}
	return m, err
}
