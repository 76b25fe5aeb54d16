package plain

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// insertRequests splits new items over requests. Items go as single puts if they are few or must go
// alone. If they are many, they go as batches of statements.
func (p *put) insertRequests(inserts []*write) (requests []request) {
	var many []*write
	for _, w := range inserts {
		if w.alone || len(inserts) <= rows.Few {
			requests = append(requests, request{p.insertOne, []*write{w}})
			continue
		}
		many = append(many, w)
	}
	for len(many) > 0 {
		n, bytes := 0, 0
		for n < len(many) && n < rows.MaxStatements {
			if bytes += many[n].item.Size(); n > 0 && bytes > rows.MaxRequestBytes {
				break
			}
			n++
		}
		chunk := many[:n]
		many = many[n:]
		requests = append(requests, request{p.insertMany, chunk})
	}
	return requests
}

// insertOne puts one item if its key is free. If the function stops after the put is applied and
// before the answer comes, the next delivery finds the item with its own digest, and is a
// Duplicate.
func (p *put) insertOne(ctx context.Context, one []*write) {
	w := one[0]
	_, err := p.store.Client.PutItem(ctx, p.insertion(w.item), rows.Once, rows.InTime(w.item))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	p.inserted(w, rows.Classify(err), rows.RefusedBy(err))
}

// insertion returns the request that puts an item if its key is free.
func (p *put) insertion(item *event.Item) *dynamodb.PutItemInput {
	free, names := rows.FreeKey(p.store.Pipeline.Migration(item.Type) != "")
	return &dynamodb.PutItemInput{
		TableName:                           &p.store.Events,
		Item:                                rows.Encode(item),
		ConditionExpression:                 free,
		ExpressionAttributeNames:            names,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// insertMany inserts up to 25 items in one request. The answer has a result for each. A refusal of
// one item is part of a successful answer, and the SDK does not retry it. insertMany does not ask
// for the stored items that made conditions fail, because 25 of them may take 10 MB. They are read
// afterwards, first without their payloads.
func (p *put) insertMany(ctx context.Context, chunk []*write) {
	statements := make([]types.BatchStatementRequest, len(chunk))
	texts := InsertTexts{Table: p.store.Events}
	items := make([]*event.Item, len(chunk))
	var attributes []rows.Attribute // of one item after another
	for i, w := range chunk {
		items[i] = w.item
		attributes = rows.AppendAttributes(attributes[:0], w.item)
		statements[i] = texts.Statement(attributes)
	}
	responses, err := p.store.Execute(ctx, statements, rows.Once, rows.InTime(items...))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	whole := rows.Classify(err)
	if whole.Outcome == rows.Invalid {
		apart(chunk, whole)
		return
	}
	for i, w := range chunk {
		if whole.Outcome == rows.Done {
			p.inserted(w, rows.ClassifyStatement(responses[i].Error), nil)
		} else {
			p.inserted(w, whole, nil)
		}
	}
}

// apart makes every write of an invalid request go alone in the next round. The refusal does not
// say which write is wrong, and the others must not be delivered again because of it. This takes at
// most one more request for each, because the refusal of a write that goes alone is final. Callers
// hold mu.
func apart(chunk []*write, a rows.Answer) {
	for _, w := range chunk {
		w.alone, w.last = true, a
	}
}

// inserted takes the answer to an insert. img is the stored item, if the answer included it.
// Callers hold mu.
func (p *put) inserted(w *write, a rows.Answer, img rows.Image) {
	switch a.Outcome {
	case rows.Done:
		p.charge(w, rows.InsertUnits(w.item))
		p.written(w, event.Inserted)
	case rows.Failed:
		p.taken(w, a, img, w.item.Size())
	default:
		p.note(w, a)
	}
}

// taken takes a failed condition. The key is held by img. If the refusal did not include that item,
// it is read next. After a replacement its payload is read too, because the payload may be why the
// condition failed. Callers hold mu.
func (p *put) taken(w *write, a rows.Answer, img rows.Image, attempted int) {
	w.taken, w.last, w.known = true, a, nil
	p.chargeRefusal(w, attempted, img)
	switch {
	case len(img) > 0:
		p.meet(w, rows.ReadWhole(img))
	case w.state == replacing:
		p.to(w, comparing)
	default:
		p.to(w, reading)
	}
}

// chargeRefusal counts a failed condition. It is charged for the larger of the attempted and the
// stored item, on the table alone. If the stored item did not come with the refusal, settleRefusal
// counts the difference once that item is read.
func (p *put) chargeRefusal(w *write, attempted int, img rows.Image) {
	if len(img) == 0 {
		w.attempted = attempted
	}
	p.charge(w, float64(itemform.WriteUnits(max(attempted, rows.ImageSize(img)))))
}

func (p *put) settleRefusal(w *write, stored int) {
	if w.attempted > 0 {
		p.charge(w, float64(itemform.WriteUnits(max(w.attempted, stored))-itemform.WriteUnits(w.attempted)))
		w.attempted = 0
	}
}

func (p *put) charge(w *write, units float64) {
	w.units += units
	p.cost.WriteUnits += units
}

// InsertTexts makes the statements of one request. Most items of a request have the same
// attributes, so their statements share one text.
type InsertTexts struct {
	Table string
	names []string // of the last statement
	text  *string
}

// Statement returns INSERT INTO "table" VALUE {'PK': ?, …} with one parameter for each attribute.
// The service does not accept a whole item as one parameter. The text depends only on the names of
// the attributes. Statement sorts item, and keeps no reference to it.
func (t *InsertTexts) Statement(item []rows.Attribute) types.BatchStatementRequest {
	slices.SortFunc(item, func(a, b rows.Attribute) int { return strings.Compare(a.Name, b.Name) })
	parameters := make([]types.AttributeValue, len(item))
	for i, a := range item {
		parameters[i] = a.Value
	}
	if !slices.EqualFunc(item, t.names, func(a rows.Attribute, name string) bool { return a.Name == name }) {
		t.names = make([]string, len(item))
		for i, a := range item {
			t.names[i] = a.Name
		}
		t.text = aws.String(`INSERT INTO "` + t.Table + `" VALUE {'` + strings.Join(t.names, "': ?, '") + `': ?}`)
	}
	return types.BatchStatementRequest{Statement: t.text, Parameters: parameters}
}
