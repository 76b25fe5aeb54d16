package generations

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// A generation is behind while images stamped below it come in. Every batch of every shard may
// bring some. The head of a generation is one item, and each write of it is charged for the whole
// definition. So not every batch should write to it. Each generation therefore has a few small
// items, which say whether a batch has to write to the head:
//
//   - pass is the number of the latest touch pass.
//   - marked is the number of the pass that the head was in when a batch that read this item last
//     wrote to the head.
//
// A batch reads one of these items. It writes to the head only if marked is below pass. Then it
// raises marked to the number that the head had.
// [github.com/ingot-events/ingot/store/repair.Repairer.BeginPass] raises pass in all of these items
// before it raises the head's own. So if an image comes after a pass has begun, its batch either
// writes to the head, or finds that another batch has done so since the pass began. A write to the
// head changes its behind and closes the pass, so that this pass can no longer be finished. None of
// this depends on a clock or on the memory of a process.

// MarkBehind records that a batch held an image stamped below each of the generations. They are
// building until a touch pass has brought that item in. If somebody has deleted the head of a
// generation, MarkBehind leaves the generation alone, because the next start reports that.
func (s *Heads) MarkBehind(ctx context.Context, defs []*aggregate.Definition) (tables.Cost, error) {
	m := &marking{store: s, open: defs, shard: int(s.Env.Rand() * lanes.PassShards)}
	if len(defs) == 0 {
		return m.cost, nil
	}
	sent := 0
	err := s.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		if sent++; sent > 1 {
			m.cost.Retries++
		}
		a := m.try(ctx)
		switch a.Outcome {
		case rows.Done:
			return a, rows.Ended
		case rows.Throttled:
			m.cost.Throttle(a.Reason, 1)
		}
		return a, rows.Later
	})
	if err != nil {
		return m.cost, fmt.Errorf("marking %d generations behind: %w", len(m.open), awserr.Quiet(err))
	}
	return m.cost, nil
}

// marking is one call of MarkBehind.
type marking struct {
	store *Heads
	open  []*aggregate.Definition // generations that are not known to be marked
	shard int                     // which of each generation's small items this call reads; any of them is good enough
	cost  tables.Cost
}

// try finds out which heads it has to write to, and writes to them. Another batch may do so between
// two tries.
func (m *marking) try(ctx context.Context) rows.Answer {
	for len(m.open) > 0 {
		asked := m.open[:min(len(m.open), rows.MaxKeys)]
		unmarked, a := m.unmarked(ctx, asked)
		if a.Outcome != rows.Done {
			return a
		}
		for _, d := range unmarked {
			if a := m.tell(ctx, d); a.Outcome != rows.Done {
				return a
			}
		}
		m.open = m.open[len(asked):]
	}
	return rows.Answer{}
}

// unmarked returns the generations whose heads, as far as the small items show, were not written to
// in the current pass.
func (m *marking) unmarked(ctx context.Context, asked []*aggregate.Definition) ([]*aggregate.Definition, rows.Answer) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, d := range asked {
		request.Keys = append(request.Keys, rows.KeyImage(lanes.PassKey(d, m.shard)))
	}
	m.cost.Requests++
	out, err := m.store.Client.BatchGetItem(ctx,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{m.store.Aggregates: request}})
	if err != nil {
		return nil, rows.Classify(err)
	}
	m.cost.ReadUnits += float64(len(asked) - len(out.UnprocessedKeys[m.store.Aggregates].Keys))
	marked := map[event.Key]bool{}
	for _, img := range out.Responses[m.store.Aggregates] {
		marked[rows.KeyOf(img)] = img["marked"] != nil && rows.IntegerOf(img["marked"]) >= rows.IntegerOf(img["pass"])
	}
	var list []*aggregate.Definition
	for _, d := range asked {
		if !marked[lanes.PassKey(d, m.shard)] { // an item that was left unread counts as not marked
			list = append(list, d)
		}
	}
	return list, rows.Answer{}
}

// tell writes to one head, and then notes that in the small item. If the function stops between the
// two writes, the next batch writes to the head once more.
func (m *marking) tell(ctx context.Context, d *aggregate.Definition) rows.Answer {
	m.cost.Requests++
	out, err := m.store.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &m.store.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)), ConditionExpression: aws.String("attribute_exists(PK)"),
		UpdateExpression:          aws.String("ADD #behind :one SET #building = :true REMOVE #open"),
		ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building", "#open": "open"},
		ExpressionAttributeValues: rows.Image{":one": rows.Integer(1), ":true": &types.AttributeValueMemberBOOL{Value: true}},
		ReturnValues:              types.ReturnValueAllNew,
	})
	switch a := rows.Classify(err); a.Outcome {
	case rows.Done:
	case rows.Failed:
		m.cost.WriteUnits++ // there is no head
		return rows.Answer{}
	default:
		return a
	}
	m.cost.WriteUnits += float64(itemform.WriteUnits(rows.ImageSize(out.Attributes)))
	m.cost.Requests++
	_, err = m.store.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &m.store.Aggregates, Key: rows.KeyImage(lanes.PassKey(d, m.shard)),
		UpdateExpression:          aws.String("SET #marked = :pass"),
		ExpressionAttributeNames:  map[string]string{"#marked": "marked"},
		ExpressionAttributeValues: rows.Image{":pass": rows.Integer(rows.IntegerOf(out.Attributes["pass"]))},
	})
	if err == nil {
		m.cost.WriteUnits++
	}
	return rows.Classify(err)
}

// BeginPass does what [github.com/ingot-events/ingot/store/repair.Repairer.BeginPass] says.
func (s *Heads) BeginPass(ctx context.Context, d *aggregate.Definition) (tables.Pass, error) {
	var behind int64
	err := s.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		var a rows.Answer
		if behind, a = s.beginPass(ctx, d); a.Outcome == rows.Done {
			return a, rows.Ended
		}
		return a, rows.Later
	})
	if err != nil {
		return tables.Pass{}, fmt.Errorf("begin a pass over %s: %w", d, err)
	}
	return tables.Pass{Definition: d, Behind: behind}, nil
}

// beginPass tries once. If another process begins a pass at the same time, or if an answer is lost,
// the next try takes a new number. A mark under an earlier number says nothing about this pass.
func (s *Heads) beginPass(ctx context.Context, d *aggregate.Definition) (behind int64, a rows.Answer) {
	head, err := s.Head(ctx, d)
	if err == nil && head == nil {
		err = fmt.Errorf("aggregate %s has no head: start the streams function with its pipeline first", d)
		return 0, rows.Answer{Outcome: rows.Invalid, Err: err}
	}
	if err != nil {
		return 0, rows.Classify(err)
	}
	number := rows.Image{":pass": rows.Integer(head.Pass + 1)}
	answers := make([]rows.Answer, lanes.PassShards)
	s.Env.Each(lanes.PassShards, s.Parallel(), func(i int) {
		_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Aggregates, Key: rows.KeyImage(lanes.PassKey(d, i)),
			UpdateExpression:         aws.String("SET #pass = :pass"),
			ConditionExpression:      aws.String("attribute_not_exists(#pass) OR #pass < :pass"),
			ExpressionAttributeNames: map[string]string{"#pass": "pass"}, ExpressionAttributeValues: number,
		})
		answers[i] = rows.Classify(err)
	})
	for _, a := range answers {
		if a.Outcome != rows.Done && a.Outcome != rows.Failed { // failed: an earlier try, or another process, was here
			return 0, a
		}
	}
	return s.raisePass(ctx, d, head.Pass)
}

// raisePass gives the head the next number, if the head still has the last one.
func (s *Heads) raisePass(ctx context.Context, d *aggregate.Definition, last int64) (behind int64, a rows.Answer) {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)),
		UpdateExpression:          aws.String("SET #pass = :pass, #open = :pass"),
		ConditionExpression:       aws.String("attribute_exists(PK) AND attribute_not_exists(#pass)"),
		ExpressionAttributeNames:  map[string]string{"#pass": "pass", "#open": "open"},
		ExpressionAttributeValues: rows.Image{":pass": rows.Integer(last + 1)},
		ReturnValues:              types.ReturnValueAllNew,
	}
	if last > 0 {
		in.ConditionExpression = aws.String("#pass = :last")
		in.ExpressionAttributeValues[":last"] = rows.Integer(last)
	}
	out, err := s.Client.UpdateItem(ctx, in)
	if a = rows.Classify(err); a.Outcome == rows.Failed {
		return 0, rows.Answer{Outcome: rows.Contended, Err: errors.New("another pass has begun at the same time")}
	}
	if a.Outcome != rows.Done {
		return 0, a
	}
	return rows.IntegerOf(out.Attributes["behind"]), a
}
