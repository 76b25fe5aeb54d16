package plain

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// A state is put beside its whole: by a transaction that also checks that the whole is still
// stored. So a state never comes back after its whole was erased, however late its put arrives.

// besideRequests makes one request of all states of a whole. Two transactions that check the same
// item at the same time would only make each other fail.
func (p *put) besideRequests(states []*write) (requests []request) {
	places := map[event.Key]int{}
	for _, w := range states {
		n, known := places[w.item.Whole.Key]
		if !known {
			n = len(requests)
			places[w.item.Whole.Key], requests = n, append(requests, request{send: p.besides})
		}
		requests[n].writes = append(requests[n].writes, w)
	}
	return requests
}

// besides puts states of one whole, one after the other.
func (p *put) besides(ctx context.Context, states []*write) {
	for _, w := range states {
		if ctx.Err() == nil {
			p.beside(ctx, w)
		}
	}
}

// beside puts a state if its key is free, or over exactly the one that was read.
func (p *put) beside(ctx context.Context, w *write) {
	item, request, verdict := w.item, p.insertion(w.item), event.Inserted
	if w.state == replacing {
		item, request = p.store.Replacement(w.known, w.item)
		verdict = event.Updated
	}
	sent := p.store.Transact(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{ConditionCheck: &types.ConditionCheck{TableName: &p.store.Events, Key: rows.KeyImage(item.Whole.Key),
				ConditionExpression:       aws.String("#d = :d"),
				ExpressionAttributeNames:  map[string]string{"#d": "digest"},
				ExpressionAttributeValues: rows.Image{":d": rows.Binary(item.Whole.Digest[:])}}},
			{Put: InTransaction(request)}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}, rows.Once, rows.InTime(item))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost.Requests++
	check := rows.TransactionUnits(item.Whole.Size())
	switch {
	case sent.Outcome == rows.Done:
		units := 2 * rows.InsertUnits(item)
		if w.state == replacing {
			units = 2 * replaceUnits(w.known, item)
		}
		p.charge(w, cmp.Or(sent.Units, check+units))
		p.written(w, verdict)
	case sent.Outcome == rows.Cancelled && len(sent.Reasons) == 2:
		img := sent.Reasons[1].Item
		p.charge(w, check+rows.TransactionUnits(max(item.Size(), rows.ImageSize(img))))
		p.notBeside(w, rows.ClassifyReason(sent.Reasons[0]), rows.ClassifyReason(sent.Reasons[1]), img)
	case sent.Outcome == rows.Cancelled: // what holds its key may be too large for the answer
		p.note(w, rows.Answer{Outcome: rows.Contended, Err: rows.ErrSilent})
		w.state, w.known = reading, nil
	default:
		p.note(w, sent.Answer)
	}
}

// InTransaction returns a put as an operation of a transaction.
func InTransaction(r *dynamodb.PutItemInput) *types.Put {
	return &types.Put{TableName: r.TableName, Item: r.Item, ConditionExpression: r.ConditionExpression,
		ExpressionAttributeNames: r.ExpressionAttributeNames, ExpressionAttributeValues: r.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: r.ReturnValuesOnConditionCheckFailure}
}

var errNoWhole = errors.New("the event beside which it is put was removed in the meantime")

// notBeside takes the reasons why a state was not put: that of its whole, and its own. img is what
// holds its key, if it came with the reason. If nothing came, it is read again: the state that was
// there is gone, with its whole. Callers hold mu.
func (p *put) notBeside(w *write, whole, own rows.Answer, img rows.Image) {
	switch {
	case whole.Outcome == rows.Failed:
		w.last = rows.Answer{Outcome: rows.Unknown, Err: errNoWhole}
		p.to(w, abandoned)
	case own.Outcome == rows.Failed && len(img) > 0:
		w.last, w.known = own, nil
		p.meet(w, rows.ReadWhole(img))
	case own.Outcome == rows.Failed:
		w.last, w.known = own, nil
		p.to(w, reading)
	case own.Outcome != rows.Done:
		p.note(w, own)
	default:
		p.note(w, whole)
	}
}
