package scenario

import (
	"context"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// names gives short names to things with long ones. Shards are A, B, C as they appear. A3 is the
// third record of shard A. Messages are numbered in the order in which they were sent.
type names struct {
	arn       string
	shards    map[string]string // by shard id
	lanes     map[string]string // the same by mark attribute
	counts    map[string]int    // records seen, by shard
	records   map[string]string // by sequence number
	receipts  map[string]string // by the receipt's PK
	iterators map[string]string // shard by iterator
	messages  map[string]string // by message id
}

func newNames() *names {
	return &names{shards: map[string]string{}, lanes: map[string]string{}, counts: map[string]int{}, records: map[string]string{},
		receipts: map[string]string{}, iterators: map[string]string{}, messages: map[string]string{}}
}

func (n *names) shard(id string) string {
	if id == "" {
		return "unknown"
	}
	if n.shards[id] == "" {
		name := fmt.Sprintf("Z%d", len(n.shards))
		if len(n.shards) < 26 {
			name = string(rune('A' + len(n.shards)))
		}
		n.shards[id] = name
		n.lanes[lanes.LaneIDOf(event.Lane{StreamARN: n.arn, ShardID: id}).MarkAttribute()] = name
	}
	return n.shards[id]
}

// mark returns the record that a mark stands at. A condition holds only the number.
func (n *names) mark(b []byte) string {
	const width = len(lanes.Mark{}) - 4 // without the second
	if len(b) < width {
		return "?"
	}
	return n.records[fmt.Sprintf("%021d", new(big.Int).SetBytes(b[:width]))]
}

// observed is the stream as its mapping reads it. It learns the names on the way.
type observed struct{ w *world }

func (o observed) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	out, err := o.w.Engine.Streams().DescribeStream(ctx, in)
	if err == nil {
		var ids []string
		for _, shard := range out.StreamDescription.Shards {
			ids = append(ids, *shard.ShardId)
		}
		slices.Sort(ids) // the mapping works on them in this order
		for _, id := range ids {
			o.w.names.shard(id)
		}
	}
	return out, err
}

func (o observed) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	out, err := o.w.Engine.Streams().GetShardIterator(ctx, in)
	if err == nil {
		o.w.names.iterators[*out.ShardIterator] = *in.ShardId
	}
	return out, err
}

func (o observed) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := o.w.Engine.Streams().GetRecords(ctx, in)
	if err != nil {
		return nil, err
	}
	n := o.w.names
	shard := n.iterators[*in.ShardIterator]
	if out.NextShardIterator != nil {
		n.iterators[*out.NextShardIterator] = shard
	}
	for _, r := range out.Records {
		number := aws.ToString(r.Dynamodb.SequenceNumber)
		if n.records[number] != "" {
			continue
		}
		n.counts[shard]++
		n.records[number] = fmt.Sprintf("%s%d", n.shard(shard), n.counts[shard])
		if sequence, err := event.ParseSequence(number); err == nil {
			key := event.Key{PK: text(r.Dynamodb.Keys["PK"]), SK: text(r.Dynamodb.Keys["SK"])}
			n.receipts[lanes.ReceiptKey(n.arn, key, sequence).PK] = n.records[number]
		}
	}
	return out, nil
}

// address names an item of the aggregates table for people.
func (n *names) address(pk, sk string) string {
	if a, ok := lanes.ParseKey(event.Key{PK: pk, SK: sk}); ok {
		parts := append([]string{generation(a.Name, a.Since)}, a.By...)
		if a.Window != aggregate.NoWindow {
			parts = append(parts, strings.TrimSuffix(sk, "T00:00:00Z"))
		}
		if a.Bucket > 0 {
			parts = append(parts, fmt.Sprintf("bucket %d", a.Bucket))
		}
		return strings.Join(parts, " ")
	}
	if rest, ok := strings.CutPrefix(pk, "G#"); ok {
		name, since, _ := strings.Cut(rest, "#")
		return "head of " + name + strings.TrimSuffix("@"+since, "@1")
	}
	if name := n.receipts[pk]; name != "" {
		return "receipt " + name
	}
	return pk
}

// long matches digests and sequence numbers in texts.
var long = regexp.MustCompile(`[0-9a-f]{64}|[0-9]{21,40}`)

// people abbreviates what nobody reads, and makes a text one line.
func (n *names) people(text string, most int) string {
	text = long.ReplaceAllStringFunc(text, func(s string) string {
		if name := n.records[s]; name != "" {
			return name
		}
		return s[:6] + "…"
	})
	return short(strings.Join(strings.Fields(text), " "), most)
}

// reason returns a flag without its time.
func (n *names) reason(flag string) string {
	_, reason, _ := strings.Cut(flag, " ")
	return n.people(reason, 84)
}

// generation returns the name of an aggregate. If the aggregate is not valid since the first epoch,
// the name includes the epoch that it is valid since.
func generation(name string, since int64) string {
	if since == 1 {
		return name
	}
	return fmt.Sprintf("%s@%d", name, since)
}
