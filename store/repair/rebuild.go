package repair

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/put"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Of returns a repairer of the tables that a store is for.
func Of(st *store.Store) *Repairer {
	s, err := New(st.Config())
	if err != nil {
		panic("repair: a store has a configuration that is refused: " + err.Error())
	}
	return s
}

// Repairer puts right what is stored: it erases events, brings stored events into totals that were
// added later, and puts parts that are missing. Make it with [New].
type Repairer struct{ stages *put.Stages }

// New checks the configuration and makes a [Repairer]. It sends no request.
func New(c tables.Config) (*Repairer, error) {
	t, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	return &Repairer{put.New(generations.New(t, c), c)}, nil
}

// Touched is what a touch pass did.
type Touched struct {
	Scanned    int // Ingot's items that were read
	Touched    int // items whose stamp was raised
	Unreadable int // items that could not be understood, and were left alone
	// Payloads is how many payloads were read from the payload bucket. Each took a GET.
	Payloads int
	// Refused are items whose stamp could not be raised, because they are full or because their
	// payload is lost. The error has the reason for each. There are at most 100.
	Refused []event.Key
}

// maxRefused ends a touch pass: if so many items are refused, something else than full items is
// wrong.
const maxRefused = 100

// Touch raises the stamp of every item that is below the pipeline's epoch to that epoch. Each write
// is a MODIFY in the stream. Its old image contributes nothing to a newer generation, and its new
// image contributes everything. In this way the stream itself adds old items to new aggregates,
// under ordinary marks. It does no harm to stop Touch and to repeat it.
//
// Touch returns an error before it writes anything if no streams function has started with the
// pipeline's epoch yet. Only a start raises the epoch, and functions of an older epoch stop at the
// first item that is stamped above it.
//
// If the payload of an item is in the payload bucket, Touch reads it. The item then also gets what
// this pipeline needs of it, in the same write: newer generations may use fields that the item did
// not keep.
//
// If the table refuses to stamp an item, or if its payload is lost, the pass goes on with the
// others. Its error then names each such item. No newer generation is complete until these items
// are repaired or removed and the pass has run again.
func (s *Repairer) Touch(ctx context.Context) (Touched, error) {
	var t Touched
	var refusals []error
	for page, err := range s.TouchPages(ctx, tables.Segment{}) {
		t.Add(page.Touched)
		refusals = append(refusals, page.Refusals...)
		if err != nil {
			return t, err
		}
	}
	return t, RefusedTouches(refusals)
}

// TouchedPage is what a touch pass did with one page of items.
type TouchedPage struct {
	Touched
	Refusals      []error   // for each key of Refused, why
	Reads, Writes float64   // units that the service has counted
	Next          event.Key // where the next page begins; zero after the last page
}

// Add adds what another segment or page of the pass did.
func (t *Touched) Add(other Touched) {
	t.Scanned, t.Touched, t.Unreadable = t.Scanned+other.Scanned, t.Touched+other.Touched, t.Unreadable+other.Unreadable
	t.Payloads += other.Payloads
	t.Refused = append(t.Refused, other.Refused...)
}

// RefusedTouches returns the error of a touch pass that is complete except for items whose stamp
// could not be raised. It returns nil if there are none.
func RefusedTouches(refusals []error) error {
	if len(refusals) == 0 {
		return nil
	}
	return fmt.Errorf("touch: %d of the items could not be updated, so newer aggregates do not count them; "+
		"shorten those that are full, bring back payloads that are lost, or remove the items, "+
		"then run the touch pass again:\n%w", len(refusals), errors.Join(refusals...))
}

// TouchPages does what [Repairer.Touch] does, for one segment of the table, and yields a result for
// each page. An error ends it.
func (s *Repairer) TouchPages(ctx context.Context, seg tables.Segment) iter.Seq2[TouchedPage, error] {
	return func(yield func(TouchedPage, error) bool) {
		if err := s.mayStamp(ctx); err != nil {
			yield(TouchedPage{}, fmt.Errorf("touch: %w", err))
			return
		}
		refused := 0
		for page, err := range walk.ItemPages(ctx, s.stages.Tables, seg) {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(TouchedPage{}, err)
				return
			}
			t := TouchedPage{Reads: page.Units, Next: page.Next}
			err := s.touchAll(ctx, page, &t)
			if refused += len(t.Refused); !yield(t, err) || err != nil || refused >= maxRefused {
				return
			}
		}
	}
}

// touchAll touches the items of a page, 25 in a request. If there are only a few, they go one by
// one. So do items that a shared request could not touch.
func (s *Repairer) touchAll(ctx context.Context, page tables.Page[*event.Item], t *TouchedPage) error {
	t.Unreadable, t.Scanned = len(page.Unreadable), len(page.All)
	var below, alone []event.Key
	var elsewhere []*event.Item
	for _, item := range page.All {
		switch {
		case item.Epoch >= s.stages.Pipeline.Epoch():
		case item.Payload != nil && s.uses(item.Type):
			elsewhere = append(elsewhere, item)
		default:
			below = append(below, item.Key)
		}
	}
	for some := range slices.Chunk(below, rows.MaxStatements) {
		if len(some) <= rows.Few {
			alone = append(alone, some...)
			continue
		}
		left, err := s.touchMany(ctx, some, t)
		if err != nil {
			return fmt.Errorf("touch %s and %d other items: %w", some[0], len(some)-1, err)
		}
		alone = append(alone, left...)
	}
	for _, key := range alone {
		if err := s.touchAlone(ctx, key, t); err != nil || len(t.Refused) == maxRefused {
			return err
		}
	}
	return s.touchElsewhere(ctx, elsewhere, t)
}

// uses reports whether the pipeline declares an event type. If it does not, no total needs any
// field of it.
func (s *Repairer) uses(eventType string) bool {
	_, err := s.stages.Pipeline.Kept(eventType, "{}")
	return err == nil
}

// touchedAtOnce is how many payloads of the payload bucket are held at the same time.
const touchedAtOnce = 4

// touchElsewhere touches items whose payloads are in the payload bucket: each of them gets what
// this pipeline needs of its payload.
func (s *Repairer) touchElsewhere(ctx context.Context, items []*event.Item, t *TouchedPage) error {
	for some := range slices.Chunk(items, touchedAtOnce) {
		texts, errs := make([]string, len(some)), make([]error, len(some))
		s.stages.Env.Each(len(some), touchedAtOnce, func(i int) { texts[i], errs[i] = s.keptToday(ctx, some[i]) })
		for i, item := range some {
			t.Payloads++
			err := errs[i]
			if err == nil {
				err = s.touchAlone(ctx, item.Key, t, s.withData(item, texts[i]))
			} else if refusal := (*event.Refusal)(nil); errors.Is(err, tables.ErrPayloadLost) || errors.As(err, &refusal) {
				t.refuse(item.Key, err)
				err = nil
			} else {
				err = fmt.Errorf("touch %s: %w", item.Key, err)
			}
			if err != nil || len(t.Refused) == maxRefused {
				return err
			}
		}
	}
	return nil
}

// keptToday returns what an item keeps of its payload under this pipeline.
func (s *Repairer) keptToday(ctx context.Context, item *event.Item) (string, error) {
	text, err := s.stages.Payload(ctx, item)
	if err != nil {
		return "", err
	}
	return s.stages.Pipeline.Kept(item.Type, text)
}

// refuse notes that the stamp of an item could not be raised.
func (t *TouchedPage) refuse(key event.Key, err error) {
	t.Refused, t.Refusals = append(t.Refused, key), append(t.Refusals, fmt.Errorf("item %q: %w", key, err))
}

// touchMany touches up to 25 items in one request, with the condition of [Store.touch] for each.
// Throttled items are sent again without the others. It returns the items that were refused as
// invalid, because only the refusal of a request with a single item is final.
func (s *Repairer) touchMany(ctx context.Context, keys []event.Key, t *TouchedPage) (alone []event.Key, err error) {
	set := rows.StatementText("UPDATE ").Quoted(s.stages.Events).Add(` SET "epoch" = ? WHERE PK = ? AND SK = ?`).
		Add(` AND "type" IS NOT MISSING`).Add(` AND ("epoch" IS MISSING OR "epoch" < ?)`)
	statement, now := string(set), rows.Integer(s.stages.Pipeline.Epoch())
	err = s.stages.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		in := &dynamodb.BatchExecuteStatementInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		for _, key := range keys {
			in.Statements = append(in.Statements, types.BatchStatementRequest{Statement: &statement,
				Parameters: []types.AttributeValue{now, rows.Text(key.PK), rows.Text(key.SK), now}})
		}
		out, err := s.stages.Client.BatchExecuteStatement(ctx, in)
		if err == nil && len(out.Responses) != len(keys) {
			err = rows.ErrAnswers
		}
		switch whole := rows.Classify(err); whole.Outcome {
		case rows.Done:
		case rows.Invalid: // the refusal names no statement
			alone, keys = append(alone, keys...), nil
			return whole, rows.Ended
		default:
			return whole, rows.Later
		}
		for _, used := range out.ConsumedCapacity {
			t.Writes += rows.UnitsOf(&used, 0)
		}
		var left []event.Key
		var why rows.Answer
		for i, key := range keys {
			switch a := rows.ClassifyStatement(out.Responses[i].Error); a.Outcome {
			case rows.Done:
				t.Touched.Touched++
			case rows.Failed: // another process has touched it, or it is gone
			case rows.Invalid:
				alone = append(alone, key)
			default:
				if left = append(left, key); !why.Hopeless() {
					why = a
				}
			}
		}
		if keys = left; len(left) == 0 {
			return rows.Answer{}, rows.Ended
		}
		return why, rows.Later
	})
	return alone, err
}

// touchAlone touches one item, and notes if its stamp could not be raised. more, if it is not nil,
// adds to the request.
func (s *Repairer) touchAlone(ctx context.Context, key event.Key, t *TouchedPage, more ...func(*dynamodb.UpdateItemInput)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	in := s.touching(key)
	for _, change := range more {
		change(in)
	}
	touched, units, err := s.touch(ctx, in)
	t.Writes += units
	if rows.Classify(err).Outcome == rows.Invalid {
		t.refuse(key, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("touch %s: %w", key, err)
	}
	if touched {
		t.Touched.Touched++
	}
	return nil
}

// mayStamp returns an error if items must not carry this pipeline's epoch yet. It reads the table's
// epoch once, consistently. An epoch never falls, so the answer holds until the end of the pass.
func (s *Repairer) mayStamp(ctx context.Context) error {
	if s.stages.Aggregates == "" {
		return errors.New(
			"Config.Aggregates names no table, and the epoch that items may carry is read there: set it to the aggregates table")
	}
	img, err := s.stages.Get(ctx, lanes.EpochKey)
	if err != nil {
		return fmt.Errorf("reading the epoch of the aggregates table %s: %w", s.stages.Aggregates, err)
	}
	return s.reached(rows.IntegerOf(img["epoch"]))
}

// reached returns an error if the table's epoch is below the pipeline's. The epoch is 0 if the
// table has none.
func (s *Repairer) reached(epoch int64) error {
	switch own := s.stages.Pipeline.Epoch(); {
	case epoch >= own:
		return nil
	case epoch == 0:
		return fmt.Errorf("refused, because no streams function has started with the aggregates table %s, which has no epoch yet; deploy "+
			"it with this pipeline.yaml, at epoch %d, let it start, then run the touch pass again", s.stages.Aggregates, own)
	default:
		return fmt.Errorf("refused, because the aggregates table %s is at epoch %d and this pipeline.yaml at %d, and a streams function "+
			"that is at %d stops at the first item stamped %d; deploy it with this pipeline.yaml, let it start, then run the "+
			"touch pass again", s.stages.Aggregates, epoch, own, epoch, own)
	}
}

// touching returns the request that raises one item's stamp, if the item is still there and still
// below it.
func (s *Repairer) touching(key event.Key) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &s.stages.Events, Key: rows.KeyImage(key),
		UpdateExpression:          aws.String("SET #e = :now"),
		ConditionExpression:       aws.String("attribute_exists(#t) AND (attribute_not_exists(#e) OR #e < :now)"),
		ExpressionAttributeNames:  map[string]string{"#e": "epoch", "#t": "type"},
		ExpressionAttributeValues: rows.Image{":now": rows.Integer(s.stages.Pipeline.Epoch())},
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}

// withData makes the request also set what the item keeps of its payload, if the item still has the
// payload that was read. An erased event has no payload, and the key may hold another event by now.
// Stamp and data are one write, so no image has the new stamp without the data for it.
func (s *Repairer) withData(item *event.Item, data string) func(*dynamodb.UpdateItemInput) {
	return func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String(*in.UpdateExpression + ", #data = :data")
		in.ConditionExpression = aws.String(*in.ConditionExpression + " AND #payload = :payload AND #digest = :digest")
		names, values := in.ExpressionAttributeNames, in.ExpressionAttributeValues
		names["#data"], names["#payload"], names["#digest"] = "data", itemform.Payload, "digest"
		values[":data"], values[":digest"] = rows.Text(data), rows.Binary(item.Digest[:])
		values[":payload"] = rows.Binary(item.Payload.Sum[:])
	}
}

// touch sends a request of [Store.touching]. It returns false if another process has raised the
// stamp, or if the item is gone: it was removed, or a bar, which has no type, has replaced it.
// units are the units that the service has counted for the write.
func (s *Repairer) touch(ctx context.Context, in *dynamodb.UpdateItemInput) (touched bool, units float64, err error) {
	out, err := rows.Asked(ctx, s.stages, s.stages.Client.UpdateItem, in)
	if rows.Classify(err).Outcome == rows.Failed {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	return true, rows.UnitsOf(out.ConsumedCapacity, 1), nil
}

// BeginPass begins a touch pass over a generation. Call [Repairer.Touch] after it, and
// [github.com/ingot-events/ingot/verify.Finish] when the stream has brought what was touched.
func (s *Repairer) BeginPass(ctx context.Context, d *aggregate.Definition) (tables.Pass, error) {
	return s.stages.Generations.BeginPass(ctx, d)
}

// ErrBehind says that images stamped below the generation have come since the pass began, so
// another pass must begin.
var ErrBehind = errors.New("images stamped below the generation have been met since the pass began; begin again")

// ClearBuilding declares a generation complete, on condition that behind of its head is still what
// [Repairer.BeginPass] returned. Call it only if you have found no lower stamp and no difference.
// [github.com/ingot-events/ingot/verify.Finish] does all of this.
func (s *Repairer) ClearBuilding(ctx context.Context, d *aggregate.Definition, behind int64) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.stages.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)),
		UpdateExpression:         aws.String("SET #building = :false REMOVE #before"),
		ConditionExpression:      aws.String("#behind = :behind AND attribute_exists(#open)"),
		ExpressionAttributeNames: map[string]string{"#building": "building", "#behind": "behind", "#open": "open", "#before": "before"},
		ExpressionAttributeValues: rows.Image{
			":false":  &types.AttributeValueMemberBOOL{Value: false},
			":behind": rows.Integer(behind),
		},
	}
	_, err := rows.Asked(ctx, s.stages, s.stages.Client.UpdateItem, in)
	if rows.Classify(err).Outcome != rows.Failed {
		return err
	}
	if head, err := s.stages.Generations.Head(ctx, d); err != nil || head == nil {
		return errors.Join(err, fmt.Errorf("aggregate %s has no head: start the streams function with its pipeline first", d))
	}
	return ErrBehind
}
