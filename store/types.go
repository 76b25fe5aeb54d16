package store

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/put"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Client is what the store needs of DynamoDB. A *dynamodb.Client is a Client.
type Client = rows.Client

// Config says how to make a [Store].
type Config = rows.Config

// Cost is what calls have used of DynamoDB. Units are computed from item sizes by the service's
// published rules, not taken from answers, because the service reports none for requests that fail
// as a whole. A replacement is the exception: its price depends on an item that is not read as a
// whole, so the number is taken from the answer.
//
// Units are a lower bound where something cannot be known: whether a request without an answer was
// charged, the cost of a statement that was refused for good, the sizes of the items that a
// receipt's transaction met, and how much an aggregate item has grown since it was last read.
//
// Units are a guess for an item that was read to be judged. Its id, index keys, meta and declared
// attributes are not read. Its payload is read only if it has another digest than the event that
// met it. The parts that are not read are assumed to be as large as the event's own. This is right
// for a Duplicate, unless the pipeline or the spelling has changed. For another revision it may be
// wrong.
//
// Indexes are assumed to project all attributes, as those of template.yaml do.
type Cost = rows.Cost

// LargeTotal is the size in bytes from which an aggregate item says that it is large. From
// [event.MaxItem] the table refuses its updates for good. It takes a while until marks fill the
// space between the two sizes.
const LargeTotal = rows.LargeTotal

// Objects is what the store needs of S3, if payloads are in the payload bucket. A *s3.Client is
// one.
type Objects = rows.Objects

// OddItem is the error for a stored item that has Ingot's type but cannot be decoded.
type OddItem = rows.OddItem

// Page is what one request of a scan brought.
type Page[T any] = rows.Page[T]

// ReadRecord reads one record of the events table's stream, in the JSON that Lambda and EventBridge
// Pipes send. It is for functions of your own on that stream: r is an element of Records, parsed by
// [event.ParseDocument], and shard is the event's shardId, or empty. The stream must deliver both
// images (NEW_AND_OLD_IMAGES).
//
// If one record cannot be read, the others of its batch still can. The change that is returned with
// an error holds everything that could be read of the record. Its Sequence is zero if not even the
// order is known.
func ReadRecord(r event.Node, shard string) (event.Change, error) {
	return rows.ReadRecord(r, shard)
}

// Result says what became of one item.
type Result = rows.Result

// Segment is the part of a table that a scan reads. The zero value is the whole table.
type Segment = rows.Segment

// StoredTotal is one item of the aggregates table. It is a whole total or, if the aggregate
// declares spread, one of the buckets that [Total] adds up.
type StoredTotal = rows.StoredTotal

// DeployedFile reads the pipeline.yaml that the streams function runs, consistently. It returns nil
// if the table has no file, because the streams function has not stored one yet or because the file
// is too large. [pipeline.Load] compiles the text.
func DeployedFile(ctx context.Context, c Client, aggregates string) (*File, error) {
	return generations.DeployedFile(ctx, c, aggregates)
}

// ErrOtherSecret is returned if the pipeline's secret of hmac is not the one that the tables were
// filled with.
var ErrOtherSecret = generations.ErrOtherSecret

// File is the pipeline.yaml that the streams function runs, as it keeps it in the aggregates table.
// The ingest function is deployed at the same time, but for a while it may still run the file
// before.
type File = generations.File

// Head is what the aggregates table says about one generation.
type Head = generations.Head

// Pass is a touch pass over a generation, from [Store.BeginPass] to
// [github.com/ingot-events/ingot/verify.Finish]. A program that stops in between can keep the two
// fields, and make the Pass from them again.
type Pass = generations.Pass

// StartError is returned by [Store.Start] if the aggregates table and the pipeline do not agree.
// Each mistake says where they differ, and what to do.
type StartError = generations.StartError

// ErrPayloadLost says that a payload should be in the payload bucket and is not there, or is
// damaged. Asking again does not help. The item itself is still counted, because the table has the
// fields that totals need.
var ErrPayloadLost = plain.ErrPayloadLost

// ExpiryMargin is the time before its expiry in which an event is no longer written. It is longer
// than any clock skew and any request in flight. So no put can arrive after time to live has
// removed the same key, and be counted twice.
const ExpiryMargin = plain.ExpiryMargin

// MaxAhead, 30 days, is how far in the future an event's time may be if its payload goes to the
// payload bucket. The lifecycle of the bucket counts from the put, and the event's expiry from its
// time.
const MaxAhead = put.MaxAhead
