// Package embedded is an in-process engine for the calls that Ingot makes to DynamoDB, DynamoDB Streams,
// SQS and S3. Its clients have the method signatures of the AWS SDK for Go v2, so the code that runs in
// production runs on it unchanged, and they answer with the services' own semantics: conditions, limits,
// capacity, shards that roll, visibility timeouts, time to live.
//
// What the engine does not implement it refuses with an UnsupportedError that names the field or the
// expression; nothing is silently ignored. (The per-call option functions are accepted and unused: they
// configure transport and retries, and the engine has neither.)
//
// Items are immutable once stored: a write copies its input, and every read answers with a fresh map whose
// attribute values are shared with the store. A caller may change the map, but must not change a value in it.
// A stream record is shared as a whole: nobody may change its maps either.
package embedded

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Config tells an Engine what it cannot know by itself. The zero value works.
type Config struct {
	// Now is the engine's clock: stream record times, shard ages, visibility, retention, time to live.
	// Default: time.Now. It must be safe for concurrent use and should not go backwards.
	Now func() time.Time
	// Seed fixes every random choice (shard ids, sequence numbers, message ids): the same calls in the
	// same order with the same Seed and Now give the same answers.
	Seed uint64
	// Region and Account appear in ARNs and queue URLs. Defaults: us-east-1 and 000000000000.
	Region, Account string
	// Partitions is the number of shards a new stream starts with. Default 2.
	Partitions int
	// RollAfter is the age at which an open shard is closed and continued by a child. Default 4 h;
	// negative: shards never roll by themselves.
	RollAfter time.Duration
	// PartiQLReturnsItem makes a failed BatchExecuteStatement INSERT answer with Error.Item when the
	// statement asks for ALL_OLD. What the service does is not proven, so callers are tested with both.
	PartiQLReturnsItem bool
	// Intercept, when set, is called around every client call. It may refuse before the call (return an
	// error without calling), lose the answer (call, then return an error) or pass through. An error it
	// returns is wrapped in *smithy.OperationError like the service's own.
	Intercept func(ctx context.Context, api string, input any, call func() (any, error)) (any, error)
	// OnRecord, when set, is told of every stream record when it is written, in the order of the writes. The
	// engine's lock is held: OnRecord must not call the engine. It must not change the record.
	OnRecord func(shardID string, r types.Record)
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
	if c.Partitions <= 0 {
		c.Partitions = 2
	}
	if c.RollAfter == 0 {
		c.RollAfter = 4 * time.Hour
	}
	return c
}

// Engine holds tables, streams, queues and buckets in memory. It is safe for concurrent use; every
// single-item operation is linearizable and a transaction is atomic.
type Engine struct {
	cfg     Config
	tables  tables
	queues  queues
	buckets buckets
	meter   meter
	refused sync.Map // API name -> []field: the input fields that the engine does not implement
}

// New returns an empty engine.
func New(cfg Config) *Engine {
	e := &Engine{cfg: cfg.withDefaults()}
	e.tables = newTables(e)
	e.queues = newQueues(e)
	e.buckets = newBuckets(e)
	return e
}

// DynamoDB returns the client with the signatures of *dynamodb.Client.
func (e *Engine) DynamoDB() *DynamoDB { return &DynamoDB{e} }

// Streams returns the client with the signatures of *dynamodbstreams.Client.
func (e *Engine) Streams() *Streams { return &Streams{e} }

// SQS returns the client with the signatures of *sqs.Client.
func (e *Engine) SQS() *SQS { return &SQS{e} }

// S3 returns the client with the signatures of *s3.Client.
func (e *Engine) S3() *S3 { return &S3{e} }

func (e *Engine) now() time.Time { return e.cfg.Now().UTC() }

// source returns a generator for one part of the engine. Each part has its own, so that what happens in
// one part does not shift the random choices of another.
func (e *Engine) source(part string) *rand.Rand {
	return rand.New(rand.NewPCG(e.cfg.Seed, hashKey(part)))
}
