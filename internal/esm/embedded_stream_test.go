package esm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// seeds runs the test for several random seeds, or for the one in INGOT_SEED.
func seeds(t *testing.T, n int, run func(t *testing.T, seed uint64)) {
	if testing.Short() {
		n = min(n, 4)
	}
	for _, seed := range replay.Seeds(t, 0, n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Log("replay with " + replay.Command(t, seed))
				}
			})
			run(t, seed)
		})
	}
}

// streamWorld is a table of the embedded engine, a mapping over its stream, and a function that
// sometimes fails and records what it did.
type streamWorld struct {
	t      *testing.T
	r      *rand.Rand
	now    time.Time
	engine *embedded.Engine
	arn    string
	s      *esm.Stream

	trouble    float64 // chance of a failing invocation
	versions   map[string]int
	deliveries []delivery
	counted    int            // by windows, at their final invocations
	done       map[string]int // the newest version of each item that the function reported as done
	drained    int            // rounds after which the mapping said that nothing is left
}

// delivery is one call. It holds the sequence numbers, and how many of them the function reported
// as done, counted from the first.
type delivery struct {
	shard string
	ids   []string
	done  int
	items []string // key and version of each record
}

func newStreamWorld(t *testing.T, seed uint64, change func(*esm.StreamConfig)) *streamWorld {
	t.Helper()
	w := &streamWorld{t: t, r: rand.New(rand.NewPCG(seed, 1)), now: must.Time("2099-01-01T00:00:00Z"), versions: map[string]int{},
		done: map[string]int{}}
	w.engine = embedded.New(embedded.Config{Now: func() time.Time { return w.now }, Seed: seed, Partitions: 3})
	var err error
	w.arn, err = (stack.Table{Name: "items", Stream: true}).Create(context.Background(), w.engine.DynamoDB())
	must.Succeed(t, err)
	cfg := esm.StreamConfig{Client: w.engine.Streams(), ARN: w.arn, BatchSize: 1 + w.r.IntN(12), ReportBatchItemFailures: true,
		Bisect: w.r.IntN(2) == 0}
	cfg.Function = esm.Function{Handler: w.handle, Now: func() time.Time { return w.now }}
	change(&cfg)
	w.s, err = esm.NewStream(cfg)
	must.Succeed(t, err)
	return w
}

func (w *streamWorld) write() {
	key := fmt.Sprintf("item-%d", w.r.IntN(30))
	w.versions[key]++
	_, err := w.engine.DynamoDB().PutItem(context.Background(),
		&dynamodb.PutItemInput{TableName: aws.String("items"), Item: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: key}, "SK": &types.AttributeValueMemberS{Value: "-"},
			"version": &types.AttributeValueMemberN{Value: strconv.Itoa(w.versions[key])},
		}})
	must.Succeed(w.t, err)
}

func (w *streamWorld) handle(_ context.Context, payload []byte) ([]byte, error) {
	var ev events.DynamoDBTimeWindowEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		w.t.Fatalf("payload: %v", err)
	}
	d := delivery{shard: ev.ShardID}
	for _, r := range ev.Records {
		d.ids = append(d.ids, r.Change.SequenceNumber)
		d.items = append(d.items, r.Change.Keys["PK"].String()+" "+r.Change.NewImage["version"].Number())
	}
	answer, err := w.answer(&d, ev)
	w.deliveries = append(w.deliveries, d)
	for _, item := range d.items[:d.done] {
		key, version, _ := strings.Cut(item, " ")
		if n, err := strconv.Atoi(version); err == nil && n > w.done[key] {
			w.done[key] = n
		}
	}
	return answer, err
}

func (w *streamWorld) answer(d *delivery, ev events.DynamoDBTimeWindowEvent) ([]byte, error) {
	d.done = len(d.ids)
	response := events.DynamoDBTimeWindowEventResponse{}
	if w.r.Float64() < w.trouble {
		switch w.r.IntN(4) {
		case 0:
			d.done = 0
			return nil, errors.New("the function failed")
		case 1:
			d.done = 0
			return []byte(`{"batchItemFailures":[{"itemIdentifier":"1"}],"state":{}}`), nil
		default:
			if len(d.ids) > 0 {
				d.done = w.r.IntN(len(d.ids))
				response.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: d.ids[d.done]}}
			}
		}
	}
	before, _ := strconv.Atoi(ev.State["n"])
	response.State = map[string]string{"n": strconv.Itoa(before + d.done)}
	if ev.IsFinalInvokeForWindow {
		w.counted += before
	}
	return json.Marshal(response)
}

func (w *streamWorld) poll() esm.Streamed {
	p, err := w.s.Poll(context.Background())
	must.Succeed(w.t, err)
	if !w.s.Drained() {
		return p
	}
	w.drained++
	if !maps.Equal(w.done, w.versions) {
		w.t.Fatalf("the mapping says that nothing is left; done: %v; written: %v", w.done, w.versions)
	}
	return p
}

// live writes, lets shards roll and split, and polls, all in random order.
func (w *streamWorld) live(steps int) {
	for range steps {
		switch n := w.r.IntN(100); {
		case n < 60:
			w.write()
		case n < 62:
			must.Succeed(w.t, w.engine.RollShards("items"))
		case n < 70:
			w.now = w.now.Add(time.Duration(w.r.IntN(60)) * time.Second)
		default:
			w.poll()
		}
	}
}

func (w *streamWorld) drain() {
	w.trouble = 0
	for idle := 0; idle < 3; idle++ {
		for !w.poll().Idle() {
			idle = 0
		}
		// This is after the end of any window that is still open.
		w.now = w.now.Add(4 * time.Minute)
	}
}

// stream reads every shard of the stream independently of the mapping. It returns the sequence
// numbers in order, and the item of each.
func (w *streamWorld) stream() (order map[string][]string, item map[string]string) {
	ctx, client := context.Background(), w.engine.Streams()
	order, item = map[string][]string{}, map[string]string{}
	var from *string
	for {
		out, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn, ExclusiveStartShardId: from})
		must.Succeed(w.t, err)
		for _, sh := range out.StreamDescription.Shards {
			it, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: &w.arn, ShardId: sh.ShardId,
				ShardIteratorType: streams.ShardIteratorTypeTrimHorizon})
			must.Succeed(w.t, err)
			for next := it.ShardIterator; next != nil; {
				page, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
				must.Succeed(w.t, err)
				for _, r := range page.Records {
					order[*sh.ShardId] = append(order[*sh.ShardId], *r.Dynamodb.SequenceNumber)
					item[*sh.ShardId+*r.Dynamodb.SequenceNumber] = r.Dynamodb.Keys["PK"].(*streams.AttributeValueMemberS).Value
				}
				if len(page.Records) == 0 {
					break
				}
				next = page.NextShardIterator
			}
		}
		if from = out.StreamDescription.LastEvaluatedShardId; from == nil {
			return order, item
		}
	}
}

// check compares the recorded deliveries with the stream:
//
//   - When a record was delivered, every earlier record of its shard had been in a delivery that
//     reported it as done, or came before it in the same delivery.
//   - Every record was done in the end.
//   - The changes of each item were first done in the order in which they were made.
func (w *streamWorld) check() {
	order, _ := w.stream()
	position := map[string]int{}
	total := 0
	for shard, ids := range order {
		for i, id := range ids {
			position[shard+id] = i
		}
		total += len(ids)
	}
	reached := map[string]int{} // how many of the shard's first records are done
	version := map[string]int{}
	for n, d := range w.deliveries {
		for i, id := range d.ids {
			at, known := position[d.shard+id]
			switch {
			case !known:
				w.t.Fatalf("delivery %d: %s is not in shard %q", n, id, d.shard)
			case at > reached[d.shard]+i:
				w.t.Fatalf("delivery %d of %s: record %d, but only %d before it are done", n, d.shard, at, reached[d.shard])
			case i > 0 && at != position[d.shard+d.ids[i-1]]+1:
				w.t.Fatalf("delivery %d of %s: record %d is not the next", n, d.shard, at)
			}
		}
		for i := range d.done {
			at := position[d.shard+d.ids[i]]
			if at < reached[d.shard] {
				continue
			}
			reached[d.shard] = at + 1
			var key string
			var v int
			_, err := fmt.Sscan(d.items[i], &key, &v)
			must.Succeed(w.t, err)
			if v != version[key]+1 {
				w.t.Fatalf("delivery %d: version %d of %s after version %d", n, v, key, version[key])
			}
			version[key] = v
		}
	}
	for shard, ids := range order {
		if reached[shard] != len(ids) {
			w.t.Errorf("shard %s: %d of %d records done", shard, reached[shard], len(ids))
		}
	}
	if total < 50 || len(order) < 3 || w.drained == 0 {
		w.t.Errorf("only %d records in %d shards, all taken after %d rounds: the test says little", total, len(order), w.drained)
	}
}

// TestEveryEarlierRecordWasDone checks the order on which exactly-once aggregation by marks relies.
func TestEveryEarlierRecordWasDone(t *testing.T) {
	seeds(t, 25, func(t *testing.T, seed uint64) {
		var w *streamWorld
		chance := func(p float64) func(esm.Invocation) bool {
			return func(esm.Invocation) bool { return w.trouble > 0 && w.r.Float64() < p }
		}
		w = newStreamWorld(t, seed, func(c *esm.StreamConfig) {
			c.Window = 60 * time.Second
			c.Function.Faults = esm.Faults{Duplicate: chance(0.1), DropAnswer: chance(0.1), Forget: chance(0.1)}
		})
		w.trouble = 0.4
		var old []esm.Checkpoint
		for range 8 {
			w.live(40)
			old = append(old, w.s.Checkpoint())
			if w.r.IntN(3) == 0 {
				w.s.Restore(old[w.r.IntN(len(old))])
			}
		}
		w.drain()
		w.check()
	})
}

// TestWindowsCountEachRecordOnce shows that the state of the windows counts each record once, in
// spite of failures, partial failures and shards that roll. This holds as long as the mapping keeps
// its checkpoint.
func TestWindowsCountEachRecordOnce(t *testing.T) {
	seeds(t, 25, func(t *testing.T, seed uint64) {
		w := newStreamWorld(t, seed, func(c *esm.StreamConfig) { c.Window = 60 * time.Second })
		w.trouble = 0.4
		w.live(300)
		w.drain()
		w.check()
		written := 0
		for _, n := range w.versions {
			written += n
		}
		must.Equal(t, w.counted, written)
	})
}
