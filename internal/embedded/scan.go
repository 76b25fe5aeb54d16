package embedded

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var scan = operation{"DynamoDB", "Scan", "TableName FilterExpression ProjectionExpression ExpressionAttributeNames ExpressionAttributeValues Limit ExclusiveStartKey Segment TotalSegments ConsistentRead ReturnConsumedCapacity"}

// Scan reads a whole table, or one segment of it, in the order of the hashes of its partition keys.
func (c *DynamoDB) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return call(ctx, c.e, scan, in, c.e.tables.scan)
}

func (ts *tables) scan(in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	p, err := ts.newPage("Scan", in.FilterExpression, in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, nil, in.Limit)
	if err != nil {
		return nil, err
	}
	segment, total, err := segments(in)
	if err != nil {
		return nil, err
	}
	ts.mu.RLock()
	defer ts.mu.RUnlock()
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
		if share(hashKey(at.partition), total) != segment {
			return nil, invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", total, segment)
		}
		start = &at
	}
	if err := t.rows.scan(segment, total, start, p.take); err != nil {
		return nil, err
	}
	spent := p.cost(nil, aws.ToBool(in.ConsistentRead))
	ts.e.meter.read(t.name, spent)
	return &dynamodb.ScanOutput{
		Items: p.items, Count: int32(len(p.items)), ScannedCount: p.scanned,
		LastEvaluatedKey: p.lastKey(t, nil),
		ConsumedCapacity: capacity(in.ReturnConsumedCapacity, t.name, spent),
	}, nil
}

func segments(in *dynamodb.ScanInput) (segment, total int, err error) {
	if in.Segment == nil && in.TotalSegments == nil {
		return 0, 1, nil
	}
	if in.TotalSegments == nil {
		return 0, 0, invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	}
	if in.Segment == nil {
		return 0, 0, invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	}
	segment, total = int(*in.Segment), int(*in.TotalSegments)
	if total < 1 || total > 1_000_000 || segment < 0 || segment >= total {
		return 0, 0, invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d", segment, total)
	}
	return segment, total, nil
}

// scan visits one segment; start, if given, is exclusive.
func (k *keyspace) scan(segment, total int, start *place, take func(*item) (bool, error)) error {
	var at position
	if start != nil {
		at, _ = k.find(start.partition)
	} else {
		at, _ = k.order.find(func(p hashed) int {
			if share(p.hash, total) < segment {
				return -1
			}
			return 1
		})
	}
	for ; k.order.valid(at); at = k.order.next(at) {
		part := k.order.at(at)
		if share(part.hash, total) != segment {
			return nil
		}
		w := &walk{rows: part.partition}
		if start != nil && part.key == start.partition {
			w.start, w.started = *start, true
		}
		stopped := false
		err := w.each(func(it *item) (bool, error) {
			more, err := take(it)
			stopped = !more
			return more, err
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}
