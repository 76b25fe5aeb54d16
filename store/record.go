package store

import (
	"context"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

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

// DeployedFile reads the pipeline.yaml that the streams function runs, consistently. It returns nil
// if the table has no file, because the streams function has not stored one yet or because the file
// is too large. [pipeline.Load] compiles the text.
func DeployedFile(ctx context.Context, client tables.Client, aggregates string) (*tables.File, error) {
	return generations.DeployedFile(ctx, client, aggregates)
}
