package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// maxPageSize is how many bytes a Query or Scan reads for one answer, before the filter.
const maxPageSize = 1024 * 1024

var query = operation("Query", "TableName IndexName KeyConditionExpression FilterExpression ProjectionExpression "+
	"ExpressionAttributeNames ExpressionAttributeValues ScanIndexForward Limit ExclusiveStartKey ConsistentRead ReturnConsumedCapacity Select")

// Query reads one partition of a table or index in order of the sort key.
func (c *Client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return api.Call(ctx, c.ts.core, query, in, c.ts.query)
}

func (ts *Service) query(in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	keys, err := ts.parsed.Condition("Query", "KeyConditionExpression", in.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	p, err := ts.newPage("Query", in.FilterExpression, in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues,
		keys.Use(), in.Limit, in.Select)
	if err != nil {
		return nil, err
	}
	defer ts.lockForRead()()
	t, err := ts.table(in.TableName)
	if err != nil {
		return nil, err
	}
	rows, s, ix, err := t.source(in.IndexName, aws.ToBool(in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	defer ts.replica("Query", t, ix, aws.ToBool(in.ConsistentRead))()
	r, err := expr.NewKeyRange(keys, p.b, s.pk, s.sk, s.number)
	if err != nil {
		return nil, err
	}
	if err := p.filter.CheckFilter(p.b, s.has); err != nil {
		return nil, err
	}
	w := &walk{rows: rows.partition(r.Partition), r: r, back: in.ScanIndexForward != nil && !*in.ScanIndexForward}
	if in.ExclusiveStartKey != nil {
		if w.start, err = t.startPlace(in.ExclusiveStartKey, ix, s); err != nil {
			return nil, err
		}
		if w.start.partition != r.Partition {
			return nil, api.Invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		if r.Side(w.start.sort) != 0 {
			return nil, api.Invalid("The provided starting key does not match the range key predicate")
		}
		w.started = true
	}
	w.each(func(it *value.Item) bool { return p.take(ix.project(it)) })
	spent := p.cost(ix, aws.ToBool(in.ConsistentRead))
	ts.read(t.name, spent)
	return &dynamodb.QueryOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned,
		LastEvaluatedKey: p.lastKey(t, ix),
		ConsumedCapacity: capacity(in.ReturnConsumedCapacity, t.name, spent),
	}, nil
}

// source returns the keyspace that a Query reads: that of the table, or that of an index. ix is nil
// for the table.
func (t *table) source(name *string, consistent bool) (*keyspace, schema, *index, error) {
	if name == nil {
		return t.rows, t.schema, nil, nil
	}
	ix := t.index(*name)
	if ix == nil {
		return nil, schema{}, nil, api.Invalid("The table does not have the specified index: %s", *name)
	}
	if consistent {
		return nil, schema{}, nil, api.Invalid("Consistent reads are not supported on global secondary indexes")
	}
	return ix.rows, ix.schema, ix, nil
}

// startPlace reads an ExclusiveStartKey: the key of the table, and also the key of the index if the
// Query reads one.
func (t *table) startPlace(in map[string]types.AttributeValue, ix *index, s schema) (place, error) {
	names := t.schema.names()
	if ix != nil {
		for _, name := range ix.schema.names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(in) != len(names) {
		return place{}, api.Invalid("The provided starting key is invalid")
	}
	text := func(name string) string {
		if s.number && name == s.sk {
			n, ok := in[name].(*types.AttributeValueMemberN)
			if !ok {
				return ""
			}
			number, _ := value.ScanNumber(n.Value)
			return number.Ordered()
		}
		if v, ok := in[name].(*types.AttributeValueMemberS); ok {
			return v.Value
		}
		return ""
	}
	for _, name := range names {
		if text(name) == "" {
			return place{}, api.Invalid("The provided starting key is invalid")
		}
	}
	return place{partition: text(s.pk), sort: text(s.sk), pk: text(t.schema.pk), sk: text(t.schema.sk)}, nil
}

// walk visits the rows of a partition that lie in a key range, in either direction.
type walk struct {
	rows    *partition // nil: empty
	r       expr.KeyRange
	back    bool
	started bool
	start   place // exclusive, if started
}

// each calls take for every row, until take returns false.
func (w *walk) each(take func(*value.Item) (more bool)) {
	if w.rows == nil {
		return
	}
	rows := &w.rows.rows
	for p := w.first(); rows.Valid(p); p = w.step(p) {
		row := rows.At(p)
		switch side := w.r.Side(row.sort); {
		case side == 0:
		case (side < 0) == w.back:
			return // past the far end
		default:
			continue // not yet at the near end
		}
		if !take(row.it) {
			return
		}
	}
}

func (w *walk) first() api.Position {
	rows := &w.rows.rows
	if w.started {
		p, found := w.rows.find(w.start)
		switch {
		case w.back:
			return rows.Previous(p)
		case found:
			return rows.Next(p)
		default:
			return p
		}
	}
	if w.back {
		p, _ := rows.Find(func(row row) int { // the first row after the range
			if w.r.Side(row.sort) > 0 {
				return 1
			}
			return -1
		})
		return rows.Previous(p)
	}
	p, _ := rows.Find(func(row row) int {
		if row.sort < w.r.From() {
			return -1
		}
		return 1
	})
	return p
}

func (w *walk) step(p api.Position) api.Position {
	if w.back {
		return w.rows.rows.Previous(p)
	}
	return w.rows.rows.Next(p)
}
