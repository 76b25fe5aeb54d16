package tables

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/pipeline"
)

// Client is what the store needs of DynamoDB. A *dynamodb.Client is a Client.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput,
		...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput,
		error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Objects is what the store needs of S3, if payloads are in the payload bucket. A *s3.Client is
// one.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// Config says how to make a Store.
type Config struct {
	Client   Client
	Pipeline *pipeline.Pipeline
	// Events is the name of the events table. Put, Items and Touch need it.
	Events string
	// Aggregates is the name of the aggregates table. Everything that concerns totals needs it, and
	// so does Touch.
	Aggregates string
	// Counting is how new generations are counted. The zero value is marks.
	Counting aggregate.Counting
	// Concurrency is the largest number of requests that one call has in flight. With 0 it adapts
	// to the table: it begins with 4, halves after throttles, and grows up to 16 while counting if
	// there are none.
	Concurrency int
	// OneByOne is how many totals a batch writes with an UpdateItem each. More totals go as PartiQL
	// statements, 25 in a request. 0 means 24. A negative number writes all totals one by one.
	OneByOne int
	// TokenKey seals the page tokens of Read, so that they show nothing and cannot be made by
	// others. It needs 16 bytes or more, and must not be the secret of hmac. Without it, tokens
	// have a checksum alone, and show the key of the last item on the page.
	TokenKey []byte
	// Region is where the program runs. The functions of another Region than the home of the events
	// table refuse to start: see [HomeError]. If it is empty, nobody asks.
	Region string
	// Objects and PayloadBucket say where large payloads are, if an event type of the pipeline has
	// offload. Objects may be a client that is made at its first request.
	Objects       Objects
	PayloadBucket string
	Env           env.Env
}

// File is the pipeline.yaml that the streams function runs, as it keeps it in the aggregates table.
// The ingest function is deployed at the same time, but for a while it may still run the file
// before.
type File struct {
	Text   []byte
	Digest string // SHA-256 of Text, in hex
}
