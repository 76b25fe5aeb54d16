package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

const (
	maxBatchGetKeys = 100
	maxBatchGetSize = 16 * 1024 * 1024
)

var (
	getItem      = operation("GetItem", "TableName Key ConsistentRead ProjectionExpression ExpressionAttributeNames ReturnConsumedCapacity")
	batchGetItem = operation("BatchGetItem", "RequestItems ReturnConsumedCapacity")
)

// GetItem reads one item. If there is none, the answer has no Item.
func (c *Client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return api.Call(ctx, c.ts.core, getItem, in, c.ts.getItem)
}

// BatchGetItem reads up to 100 items and 16 MB. Keys beyond that come back as UnprocessedKeys.
func (c *Client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return api.Call(ctx, c.ts.core, batchGetItem, in, c.ts.batchGetItem)
}

// attributes resolves the projection of a read.
func (ts *Service) attributes(api string, text *string, names map[string]string) ([]string, error) {
	p, err := ts.parsed.Projection(api, text)
	if err != nil {
		return nil, err
	}
	b, err := expr.Bind(names, nil, p.Use())
	if err != nil {
		return nil, err
	}
	return p.Names(b)
}

func (ts *Service) getItem(in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	names, err := ts.attributes("GetItem", in.ProjectionExpression, in.ExpressionAttributeNames)
	if err != nil {
		return nil, err
	}
	defer ts.lockForRead()()
	t, err := ts.table(in.TableName)
	if err != nil {
		return nil, err
	}
	k, err := t.key(in.Key)
	if err != nil {
		return nil, err
	}
	defer ts.replica("GetItem", t, nil, aws.ToBool(in.ConsistentRead))()
	it := t.get(k)
	spent := cost{table: value.ReadUnits(value.SizeOf(it), aws.ToBool(in.ConsistentRead))}
	ts.read(t.name, spent)
	out := &dynamodb.GetItemOutput{ConsumedCapacity: capacity(in.ReturnConsumedCapacity, t.name, spent)}
	if it != nil {
		out.Item = it.Project(names)
	}
	return out, nil
}

func (ts *Service) batchGetItem(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	if err := ts.checkBatchGet(in.RequestItems); err != nil {
		return nil, err
	}
	defer ts.lockForRead()()
	g := &batchGet{out: &dynamodb.BatchGetItemOutput{
		Responses:       map[string][]map[string]types.AttributeValue{},
		UnprocessedKeys: map[string]types.KeysAndAttributes{},
	}}
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		t, err := ts.table(&name)
		if err != nil {
			return nil, err
		}
		if err := g.read(ts, t, in.RequestItems[name]); err != nil {
			return nil, err
		}
	}
	for name, c := range g.bill.costs {
		ts.read(name, c)
	}
	g.out.ConsumedCapacity = g.bill.capacities(in.ReturnConsumedCapacity)
	return g.out, nil
}

func (ts *Service) checkBatchGet(requests map[string]types.KeysAndAttributes) error {
	n := 0
	for _, r := range requests {
		if err := api.RefuseNested(ts.core, "BatchGetItem", r,
			"Keys ConsistentRead ProjectionExpression ExpressionAttributeNames"); err != nil {
			return err
		}
		if len(r.Keys) == 0 {
			return api.Invalid("1 validation error detected: Value at 'requestItems.member.keys' failed to satisfy constraint: Member " +
				"must have length greater than or equal to 1")
		}
		n += len(r.Keys)
	}
	switch {
	case n == 0:
		return api.Invalid("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Member must have length " +
			"greater than or equal to 1")
	case n > maxBatchGetKeys:
		return api.Invalid("Too many items requested for the BatchGetItem call")
	}
	return nil
}

type batchGet struct {
	out  *dynamodb.BatchGetItemOutput
	size int
	bill bill
}

func (g *batchGet) read(ts *Service, t *table, r types.KeysAndAttributes) error {
	names, err := ts.attributes("BatchGetItem", r.ProjectionExpression, r.ExpressionAttributeNames)
	if err != nil {
		return err
	}
	keys := make([]key, len(r.Keys))
	seen := make(map[key]bool, len(r.Keys))
	for i, in := range r.Keys {
		if keys[i], err = t.key(in); err != nil {
			return err
		}
		if seen[keys[i]] {
			return api.Invalid("Provided list of item keys contains duplicates")
		}
		seen[keys[i]] = true
	}
	defer ts.replica("BatchGetItem", t, nil, aws.ToBool(r.ConsistentRead))()
	items := make([]map[string]types.AttributeValue, 0, len(keys))
	for i, k := range keys {
		it := t.get(k)
		if g.size += value.SizeOf(it); g.size > maxBatchGetSize {
			rest := r
			rest.Keys = r.Keys[i:]
			g.out.UnprocessedKeys[t.name] = rest
			break
		}
		g.bill.add(t.name, cost{table: value.ReadUnits(value.SizeOf(it), aws.ToBool(r.ConsistentRead))})
		if it != nil {
			items = append(items, it.Project(names))
		}
	}
	g.out.Responses[t.name] = items
	return nil
}
