package embedded

import (
	"context"
	"fmt"
	"time"

	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/dynamo"
	"github.com/ingot-events/ingot/internal/local/embedded/s3"
	"github.com/ingot-events/ingot/internal/local/embedded/sqs"
)

// Config sets up an [Engine]. The zero value works.
type Config struct {
	// Now is the engine's clock: stream record times, shard ages, visibility, retention, time to
	// live. Default: time.Now. It must be safe for concurrent use and should not go backwards.
	Now func() time.Time
	// Seed fixes every random choice (shard ids, sequence numbers, message ids). The same calls in
	// the same order with the same Seed and Now give the same answers.
	Seed uint64
	// Region and Account appear in ARNs and queue URLs. Defaults: us-east-1 and 000000000000.
	Region, Account string
	// QueueURL is the scheme and host of queue URLs. Default: https://sqs.REGION.amazonaws.com. A
	// request may use any host in the URL of a queue: the engine finds the queue by account and
	// name.
	QueueURL string
	// Partitions is the number of shards a new stream starts with. Default 2.
	Partitions int
	// RollAfter is the age at which an open shard is closed and continued by a child. The default
	// is 4 h. If it is negative, shards never roll by themselves.
	RollAfter time.Duration
	// PartiQLReturnsItem decides whether a refused statement of a BatchExecuteStatement answers
	// with Error.Item when it asks for ALL_OLD. It is not proven what the service does, so callers
	// are tested with both.
	PartiQLReturnsItem bool
	// Intercept, when set, is called around every client call. It may refuse the call (return an
	// error without calling), lose the answer (call, then return an error) or pass the call
	// through. Its errors are wrapped in *smithy.OperationError, as the service's own errors are.
	Intercept func(ctx context.Context, api string, input any, call func() (any, error)) (any, error)
	// OnRecord, when set, gets every stream record when it is written, in the order of the writes.
	// It runs under the lock of the engine, so it must not call the engine. It must not change the
	// record.
	OnRecord func(shardID string, r types.Record)
	// Behind, when set, makes reads stale. At every read it returns how many of the table's latest
	// writes the answering replica lacks. A read that is not consistent is then answered as the
	// table was before those writes. A consistent read is not affected. The engine remembers the
	// writes of the last 5 s, 64 at most. Default: every read is current. Behind runs under the
	// lock of the engine, so it must not call the engine.
	Behind func(Read) int
	// LongPolls, when set, lets ReceiveMessage wait for as long as WaitTimeSeconds says, by the
	// timers of package time. When the channel is closed, every receive answers at once. By default
	// none waits, because the time of a clock that a test moves does not pass by itself.
	LongPolls <-chan struct{}
	// Journal, when set, keeps every change of tables, streams, queues and buckets. A call is
	// answered once its changes are safe. Use [Open] to continue from what a journal holds. Usage
	// is not kept.
	Journal Journal
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Account == "" {
		c.Account = "000000000000"
	}
	if c.QueueURL == "" {
		c.QueueURL = "https://sqs." + c.Region + ".amazonaws.com"
	}
	if c.Partitions <= 0 {
		c.Partitions = 2
	}
	if c.RollAfter == 0 {
		c.RollAfter = 4 * time.Hour
	}
	return c
}

// These types belong to the packages below. They have names here for the users of the engine.
type (
	// DynamoDB is the client of the tables.
	DynamoDB = dynamo.Client
	// Streams is the client of the tables' streams.
	Streams = dynamo.Streams
	// SQS is the client of the queues.
	SQS = sqs.Client
	// S3 is the client of the buckets.
	S3 = s3.Client
	// Checksums are the checksums that come with the body of a request to S3.
	Checksums = s3.Checksums
	// Read describes a read to Config.Behind.
	Read = dynamo.Read
	// Usage counts the requests to an engine, and what they would have cost.
	Usage = api.Usage
	// TableUsage is what one table was charged.
	TableUsage = api.TableUsage
	// Journal keeps the content of an engine, so that it outlives the process.
	Journal = api.Journal
	// Change is one change that a journal keeps.
	Change = api.Change
	// UnsupportedError says that a call asked for something the engine does not implement.
	UnsupportedError = api.UnsupportedError
)

// Oldest is a function for Config.Behind. It makes each read that is not consistent as stale as
// possible.
func Oldest(r Read) int { return r.Writes }

// Engine holds tables, streams, queues and buckets in memory. It is safe for concurrent use. Every
// operation on a single item is linearizable, and a transaction is atomic.
type Engine struct {
	core    *api.Core
	tables  *dynamo.Service
	queues  *sqs.Queues
	buckets *s3.Buckets
}

// New returns an empty engine.
func New(cfg Config) *Engine {
	cfg = cfg.withDefaults()
	c := api.NewCore(api.Config{Now: cfg.Now, Seed: cfg.Seed, Region: cfg.Region, Account: cfg.Account, QueueURL: cfg.QueueURL,
		Intercept: cfg.Intercept, LongPolls: cfg.LongPolls, Journal: cfg.Journal})
	return &Engine{
		core: c, queues: sqs.New(c), buckets: s3.New(c),
		tables: dynamo.New(c, dynamo.Config{
			Partitions: cfg.Partitions, RollAfter: cfg.RollAfter, PartiQLReturnsItem: cfg.PartiQLReturnsItem, OnRecord: cfg.OnRecord,
			Behind: cfg.Behind,
		}),
	}
}

// Open returns an engine that holds what its journal holds. Messages that were in flight are
// visible again. Give it a Seed that it has not had before, or it makes the same ids again.
func Open(cfg Config) (*Engine, error) {
	e := New(cfg)
	for _, load := range []func(api.Journal) error{e.tables.Load, e.queues.Load, e.buckets.Load} {
		if err := load(cfg.Journal); err != nil {
			return nil, fmt.Errorf("the stored data cannot be read: %w", err)
		}
	}
	return e, nil
}

// AddIndex adds an index to a table, as UpdateTable does. The index holds the items of the table at
// once. AddIndex does nothing if the table already has an index of this name.
func (e *Engine) AddIndex(tableName string, index dynamotypes.GlobalSecondaryIndex, attributes []dynamotypes.AttributeDefinition) error {
	return e.tables.AddIndex(tableName, index, attributes)
}

// DynamoDB returns the client with the signatures of *dynamodb.Client.
func (e *Engine) DynamoDB() *DynamoDB { return e.tables.Client() }

// Streams returns the client with the signatures of *dynamodbstreams.Client.
func (e *Engine) Streams() *Streams { return e.tables.Streams() }

// SQS returns the client with the signatures of *sqs.Client.
func (e *Engine) SQS() *SQS { return e.queues.Client() }

// S3 returns the client with the signatures of *s3.Client.
func (e *Engine) S3() *S3 { return e.buckets.Client() }

// Usage returns what the engine has counted so far.
func (e *Engine) Usage() Usage { return e.core.Meter.Usage() }

// SweepExpired removes the items whose time has come, from every table with a TTL attribute. It
// returns how many it removed. The service does this some time within days. The stream records of
// these removals carry the identity of the service. Until a sweep, an expired item is like any
// other item. Removal costs no write units.
func (e *Engine) SweepExpired() int { return e.tables.SweepExpired() }

// Sweep is like [Engine.SweepExpired], but the parameter most limits how many items it removes from
// each table. So a large table can be swept in parts.
func (e *Engine) Sweep(most int) int { return e.tables.Sweep(most) }

// RollShards closes every open shard of the table's stream and opens a child of each. The service
// does so every few hours.
func (e *Engine) RollShards(tableName string) error { return e.tables.RollShards(tableName) }

// Forget drops a table with all its items. It writes no stream records for them, and the stream
// stays, as it does in the service. It serves to measure how much memory everything except the
// items takes.
func (e *Engine) Forget(tableName string) error { return e.tables.Forget(tableName) }

// SplitShard closes one open shard of the table's stream and opens two children.
func (e *Engine) SplitShard(tableName, shardID string) error {
	return e.tables.SplitShard(tableName, shardID)
}
