package generations

import (
	"context"
	"fmt"
	"sync"
	"time"

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

// Flag records on the heads of generations that something about them can no longer be proven: an
// image could not be understood, or a definition could not be computed. If a head already has a
// flag, the first reason stays.
//
// A head is one item. If a stream has many odd records, every batch of every shard would write to
// that item. So Flag does not write to a head that already has a flag. It reads the head first, and
// remembers for five minutes that the flag is there. If somebody has deleted a head, Flag leaves it
// alone, because the next start says that the head is missing.
func (s *Heads) Flag(ctx context.Context, defs []*aggregate.Definition, at time.Time, reason string) (tables.Cost, error) {
	f := &flagging{store: s, flag: rows.FlagText(at, reason)}
	for _, d := range defs {
		if s.flagged.Recently(lanes.HeadKey(d), s.Env.Now()) {
			continue
		}
		if err := f.one(ctx, d); err != nil {
			return f.cost, fmt.Errorf("flagging the head of aggregate %s: %w", d, awserr.Quiet(err))
		}
	}
	return f.cost, nil
}

// flagging is one call of Flag.
type flagging struct {
	store *Heads
	flag  string
	cost  tables.Cost
}

func (f *flagging) one(ctx context.Context, d *aggregate.Definition) error {
	in := &dynamodb.GetItemInput{TableName: &f.store.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)), ConsistentRead: aws.Bool(true)}
	var out *dynamodb.GetItemOutput
	err := f.ask(ctx, func() (err error) {
		out, err = f.store.Client.GetItem(ctx, in)
		return err
	})
	if err != nil {
		return err
	}
	f.cost.Read(rows.ImageSize(out.Item))
	switch {
	case len(out.Item) == 0:
		return nil
	case out.Item["flag"] == nil:
		return f.write(ctx, d)
	}
	f.store.flagged.Note(lanes.HeadKey(d), f.store.Env.Now())
	return nil
}

// write sends the flag until it is acknowledged. If another process was faster, its flag stays.
func (f *flagging) write(ctx context.Context, d *aggregate.Definition) error {
	in := &dynamodb.UpdateItemInput{TableName: &f.store.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)),
		UpdateExpression: aws.String("SET #flag = if_not_exists(#flag, :flag)"), ConditionExpression: aws.String("attribute_exists(PK)"),
		ExpressionAttributeNames: map[string]string{"#flag": "flag"}, ExpressionAttributeValues: rows.Image{":flag": rows.Text(f.flag)},
		ReturnValues: types.ReturnValueAllNew} // to compute the cost: the definition alone may have 32 KB
	var out *dynamodb.UpdateItemOutput
	err := f.ask(ctx, func() (err error) {
		out, err = f.store.Client.UpdateItem(ctx, in)
		return err
	})
	switch rows.Classify(err).Outcome {
	case rows.Done:
		f.cost.WriteUnits += float64(itemform.WriteUnits(rows.ImageSize(out.Attributes)))
		f.store.flagged.Note(lanes.HeadKey(d), f.store.Env.Now())
	case rows.Failed:
		f.cost.WriteUnits++ // it was deleted a moment ago
	default:
		return err
	}
	return nil
}

// ask does what [rows.Tables.Ask] does, and counts the cost.
func (f *flagging) ask(ctx context.Context, send func() error) error {
	sent := 0
	err := f.store.Ask(ctx, func() error {
		sent++
		return send()
	})
	f.cost.Requests += sent
	f.cost.Retries += max(0, sent-1)
	return err
}

// RecentHeads remembers for each head when a fact about it was last seen: that it has a flag, or
// that it is complete. Only the number of requests depends on this, so it may use the machine's
// clock. It forgets after a while, because a person may delete a head or its flag.
type RecentHeads struct {
	mu   sync.Mutex
	seen map[event.Key]time.Time
}

func (f *RecentHeads) Recently(head event.Key, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.seen[head]
	age := now.Sub(at)
	return ok && age >= 0 && age <= knownFor
}

func (f *RecentHeads) Note(head event.Key, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[event.Key]time.Time{}
	}
	f.seen[head] = now
}

// learn takes what a start has read, and forgets all that was known before, because the heads may
// have gone.
func (f *RecentHeads) learn(heads map[event.Key]*tables.Head, now time.Time) {
	f.mu.Lock()
	f.seen = nil
	f.mu.Unlock()
	for key, head := range heads {
		if head.Flag != "" {
			f.Note(key, now)
		}
	}
}
