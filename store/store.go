package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/pipeline"
)

// Client is what the store asks of DynamoDB. *dynamodb.Client satisfies it.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput, ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Config makes a Store.
type Config struct {
	Client   Client
	Pipeline *pipeline.Pipeline
	// Events is the name of the events table. Needed by Put, Items and Touch.
	Events string
	// Aggregates is the name of the aggregates table. Needed by all that concerns totals, and by Touch.
	Aggregates string
	// Counting is how new generations are counted; the zero value is marks.
	Counting aggregate.Counting
	// Concurrency is how many requests one call has in flight at the most; 0 means 4. Throttles lower it
	// within a call.
	Concurrency int
	Env         Env
}

// Store reads and writes the two tables.
type Store struct {
	client      Client
	pipeline    *pipeline.Pipeline
	events      string
	aggregates  string
	counting    aggregate.Counting
	concurrency int
	env         Env
	seen        observations
	newer       atomic.Pointer[[]*aggregate.Definition] // found by Start
	looked      atomic.Int64                            // when Start found it, in unix nanoseconds; 0: never
}

// New checks the configuration and makes a Store. It sends no request. Under receipts it refuses a pipeline in which
// one change can touch more totals than a transaction holds: at most 100 items, one of which is the receipt.
func New(c Config) (*Store, error) {
	switch {
	case c.Client == nil:
		return nil, errors.New("store: Config.Client is nil: give it a DynamoDB client")
	case c.Pipeline == nil:
		return nil, errors.New("store: Config.Pipeline is nil: load one with pipeline.Load")
	case c.Events == "" && c.Aggregates == "":
		return nil, errors.New("store: Config names no table: set Events, Aggregates or both")
	case c.Concurrency < 0:
		return nil, errors.New("store: Config.Concurrency is negative: leave it 0 for 4 requests in flight")
	}
	if c.Aggregates != "" && c.Counting == aggregate.Receipts {
		if err := c.Pipeline.FitsReceipts(); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	if c.Concurrency == 0 {
		c.Concurrency = 4
	}
	return &Store{client: c.Client, pipeline: c.Pipeline, events: c.Events, aggregates: c.Aggregates,
		counting: c.Counting, concurrency: c.Concurrency, env: c.Env.Real()}, nil
}

// Counting is how this store's generations are counted.
func (s *Store) Counting() aggregate.Counting { return s.counting }
