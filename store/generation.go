package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Head is what the aggregates table says of one generation.
type Head struct {
	Definition string // canonical text
	Digest     string
	Counting   string
	Spread     int
	// Building: items older than the generation may not be counted in it yet; rebuild brings them in.
	Building bool
	// Behind counts the batches that held an image stamped below the generation.
	Behind int64
	Flag   string
}

func headImage(d *aggregate.Definition, counting aggregate.Counting, building bool) image {
	img := keyImage(d.HeadKey())
	img["definition"], img["digest"], img["counting"] = text(d.Text), text(d.Digest()), text(counting.String())
	img["spread"], img["behind"] = integer(int64(d.Spread)), integer(0)
	img["building"] = &types.AttributeValueMemberBOOL{Value: building}
	return img
}

func readHead(img image) *Head {
	h := &Head{Definition: textOf(img["definition"]), Digest: textOf(img["digest"]), Counting: textOf(img["counting"]),
		Spread: int(integerOf(img["spread"])), Behind: integerOf(img["behind"]), Flag: textOf(img["flag"])}
	if b, ok := img["building"].(*types.AttributeValueMemberBOOL); ok {
		h.Building = b.Value
	}
	return h
}

// Start makes sure, before a streams handler counts anything, that the aggregates table agrees with the
// pipeline: the same generations with the same definitions, counted in the same way. It creates the heads
// of new generations and raises the epoch, both in one transaction, and refuses, in words, whatever would
// make a total mean two things.
func (s *Store) Start(ctx context.Context) error {
	for round := 1; ; round++ {
		again, err := s.start(ctx)
		if !again {
			return err
		}
		if !s.backoff(ctx, round) {
			return fmt.Errorf("start: the aggregates table %s gave no proof that its heads are written: %w", s.aggregates, err)
		}
	}
}

// start tries once. again: somebody else may have started, or an answer was lost; look anew.
func (s *Store) start(ctx context.Context) (again bool, err error) {
	epoch, heads, err := s.heads(ctx)
	if err != nil {
		outcome := classify(err).outcome
		return outcome != refused && outcome != invalid, fmt.Errorf("start: reading the aggregates table %s: %w", s.aggregates, err)
	}
	var fresh []*aggregate.Definition
	var mistakes []string
	next := max(s.pipeline.Epoch(), epoch+1) // the lowest epoch that something new can be declared in
	for _, d := range s.pipeline.Definitions() {
		head := heads[d.HeadKey()]
		switch {
		case head == nil && epoch >= s.pipeline.Epoch():
			mistakes = append(mistakes, fmt.Sprintf("aggregate %s has no head, and the table is at epoch %d already; declare it with since: %d and raise epoch to %d", d, epoch, next, next))
		case head == nil && d.Since <= epoch:
			mistakes = append(mistakes, fmt.Sprintf("aggregate %s is new, but the table is at epoch %d already; declare it with since: %d", d, epoch, s.pipeline.Epoch()))
		case head == nil:
			fresh = append(fresh, d)
		default:
			if m := s.differs(d, head, next); m != "" {
				mistakes = append(mistakes, m)
			}
		}
	}
	if len(mistakes) > 0 {
		return false, errors.New("start: refused, because totals would mean two things:\n  " + strings.Join(mistakes, "\n  "))
	}
	if epoch >= s.pipeline.Epoch() {
		return false, nil
	}
	return s.raise(ctx, epoch, fresh)
}

func (s *Store) differs(d *aggregate.Definition, head *Head, next int64) string {
	var what string
	switch {
	case head.Digest != d.Digest():
		what = "is declared otherwise than the table has it"
	case head.Counting != s.counting.String():
		what = "is counted by " + head.Counting + " in the table, and this function counts by " + s.counting.String()
	case head.Spread != d.Spread:
		what = fmt.Sprintf("is spread over %d in the table, not %d", head.Spread, d.Spread)
	default:
		return ""
	}
	return fmt.Sprintf("aggregate %s %s; go back to that, or declare the change as a new generation with since: %d and epoch: %d", d, what, next, next)
}

// heads reads the epoch (0: fresh tables) and the heads of this pipeline's generations, consistently.
func (s *Store) heads(ctx context.Context) (int64, map[event.Key]*Head, error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{keyImage(aggregate.EpochKey)}}
	for _, d := range s.pipeline.Definitions() {
		request.Keys = append(request.Keys, keyImage(d.HeadKey()))
	}
	out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.aggregates: request}})
	if err != nil {
		return 0, nil, err
	}
	if len(out.UnprocessedKeys) > 0 {
		return 0, nil, errors.New("the service left keys unread")
	}
	var epoch int64
	heads := map[event.Key]*Head{}
	for _, img := range out.Responses[s.aggregates] {
		if key := keyOf(img); key == aggregate.EpochKey {
			epoch = integerOf(img["epoch"])
		} else {
			heads[key] = readHead(img)
		}
	}
	return epoch, heads, nil
}

// raise writes the new epoch and the new heads in one transaction: a head without its epoch would let a
// second start add to the past, an epoch without its heads would refuse every start.
func (s *Store) raise(ctx context.Context, from int64, fresh []*aggregate.Definition) (again bool, err error) {
	to := &types.Put{TableName: &s.aggregates, Item: keyImage(aggregate.EpochKey)}
	to.Item["epoch"] = integer(s.pipeline.Epoch())
	if from == 0 {
		to.ConditionExpression = aws.String("attribute_not_exists(PK)")
	} else {
		to.ConditionExpression, to.ExpressionAttributeNames = aws.String("#e = :from"), map[string]string{"#e": "epoch"}
		to.ExpressionAttributeValues = image{":from": integer(from)}
	}
	items := []types.TransactWriteItem{{Put: to}}
	for _, d := range fresh {
		items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: &s.aggregates,
			Item: headImage(d, s.counting, from != 0), ConditionExpression: aws.String("attribute_not_exists(PK)")}})
	}
	_, err = s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	if err == nil {
		return false, nil
	}
	outcome := classify(err).outcome
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) && slices.ContainsFunc(cancel.CancellationReasons, func(r types.CancellationReason) bool { return classifyReason(r).outcome == invalid }) {
		outcome = invalid
	}
	return outcome != refused && outcome != invalid, fmt.Errorf("start: writing epoch %d and %d heads to %s: %w", s.pipeline.Epoch(), len(fresh), s.aggregates, err)
}

// MarkBehind records on the heads that a batch held an image stamped below the generation: the generation
// is building until rebuild has touched that item.
func (s *Store) MarkBehind(ctx context.Context, defs []*aggregate.Definition) (Cost, error) {
	return s.updateHeads(ctx, defs, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("ADD #behind :one SET #building = :true"),
		ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building"},
		ExpressionAttributeValues: image{":one": integer(1), ":true": &types.AttributeValueMemberBOOL{Value: true}},
	})
}

// Flag says on the heads of generations that something about them cannot be proven any more: an image that
// could not be understood, a definition that could not be computed. The first reason stands.
func (s *Store) Flag(ctx context.Context, defs []*aggregate.Definition, at time.Time, reason string) (Cost, error) {
	return s.updateHeads(ctx, defs, &dynamodb.UpdateItemInput{
		UpdateExpression:          aws.String("SET #flag = if_not_exists(#flag, :flag)"),
		ExpressionAttributeNames:  map[string]string{"#flag": "flag"},
		ExpressionAttributeValues: image{":flag": text(flagText(at, reason))},
	})
}

// updateHeads sends one unconditional update to each head until it is acknowledged. Doing it twice does no
// harm: the flag stands, and behind only has to change.
func (s *Store) updateHeads(ctx context.Context, defs []*aggregate.Definition, in *dynamodb.UpdateItemInput) (Cost, error) {
	var cost Cost
	for _, d := range defs {
		one := *in
		one.TableName, one.Key = &s.aggregates, keyImage(d.HeadKey())
		for round := 1; ; round++ {
			_, err := s.client.UpdateItem(ctx, &one)
			cost.Requests++
			a := classify(err)
			if a.outcome == done {
				cost.WriteUnits++
				break
			}
			cost.Retries++
			if a.outcome == refused || a.outcome == invalid || !s.backoff(ctx, round) {
				return cost, fmt.Errorf("head of aggregate %s: %w", d, err)
			}
		}
	}
	return cost, nil
}

// Head reads one generation's head, consistently; nil if there is none.
func (s *Store) Head(ctx context.Context, d *aggregate.Definition) (*Head, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.aggregates, Key: keyImage(d.HeadKey()), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("head of aggregate %s: %w", d, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	return readHead(out.Item), nil
}
