package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

var scan = operation("Scan", "TableName FilterExpression ProjectionExpression ExpressionAttributeNames ExpressionAttributeValues Limit "+
	"ExclusiveStartKey Segment TotalSegments ConsistentRead ReturnConsumedCapacity Select")

// Scan reads a whole table, or one segment of it, in the order of the hashes of its partition keys.
func (c *Client) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return api.Call(ctx, c.ts.core, scan, in, c.ts.scan)
}

func (ts *Service) scan(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	p, err := ts.newPage("Scan", in.FilterExpression, in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues,
		nil, in.Limit, in.Select)
	if err != nil {
		return nil, err
	}
	segment, total, err := segments(in)
	if err != nil {
		return nil, err
	}
	defer ts.lockForRead()()
	t, err := ts.table(in.TableName)
	if err != nil {
		return nil, err
	}
	var start *place
	if in.ExclusiveStartKey != nil {
		at, err := t.startPlace(in.ExclusiveStartKey, nil, t.schema)
		if err != nil {
			return nil, err
		}
		if share(api.Hash(at.partition), total) != segment {
			return nil, api.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "+
				"correct Segment. TotalSegments: %d Segment: %d", total, segment)
		}
		start = &at
	}
	defer ts.replica("Scan", t, nil, aws.ToBool(in.ConsistentRead))()
	t.rows.scan(segment, total, start, p.take)
	spent := p.cost(nil, aws.ToBool(in.ConsistentRead))
	ts.read(t.name, spent)
	return &dynamodb.ScanOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned,
		LastEvaluatedKey: p.lastKey(t, nil),
		ConsumedCapacity: capacity(in.ReturnConsumedCapacity, t.name, spent),
	}, nil
}

const maxSegments = 1_000_000

func segments(in *dynamodb.ScanInput) (segment, total int, err error) {
	if in.Segment == nil && in.TotalSegments == nil {
		return 0, 1, nil
	}
	if in.TotalSegments == nil {
		return 0, 0,
			api.Invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	}
	if in.Segment == nil {
		return 0, 0,
			api.Invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	}
	segment, total = int(*in.Segment), int(*in.TotalSegments)
	for _, bound := range []struct {
		name  string
		n     int
		wrong bool
		want  string
	}{
		{"totalSegments", total, total < 1, "greater than or equal to 1"},
		{"totalSegments", total, total > maxSegments, "less than or equal to 1000000"},
		{"segment", segment, segment < 0, "greater than or equal to 0"},
	} {
		if bound.wrong {
			return 0, 0,
				api.Invalid("1 validation error detected: Value '%d' at '%s' failed to satisfy constraint: Member must have value %s",
					bound.n, bound.name, bound.want)
		}
	}
	if segment >= total {
		return 0, 0, api.Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not "+
			"less than TotalSegments: %d", segment, total)
	}
	return segment, total, nil
}

// scan visits one segment. If start is given, it begins after that place.
func (k *keyspace) scan(segment, total int, start *place, take func(*value.Item) (more bool)) {
	var at api.Position
	if start != nil {
		at, _ = k.find(start.partition)
	} else {
		at, _ = k.order.Find(func(p hashed) int {
			if share(p.hash, total) < segment {
				return -1
			}
			return 1
		})
	}
	for ; k.order.Valid(at); at = k.order.Next(at) {
		part := k.order.At(at)
		if share(part.hash, total) != segment {
			return
		}
		w := &walk{rows: part.partition}
		if start != nil && part.key == start.partition {
			w.start, w.started = *start, true
		}
		stopped := false
		w.each(func(it *value.Item) bool {
			stopped = !take(it)
			return !stopped
		})
		if stopped {
			return
		}
	}
}
