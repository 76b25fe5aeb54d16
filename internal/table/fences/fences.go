// Package fences has the items by which a tool learns how far a function has read the events
// table's stream. A tool puts fences into the events table: items without a type. A function that
// has done everything up to a fence notes that in the aggregates table. All that was written before
// the first fence of a run is done when each open shard of the stream has noted one.
//
// A note says nothing of other shards, and only a function that is given one batch of a shard at a
// time may write it. A note that is lost costs time: the tool puts more fences.
package fences

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Prefix begins the partition key of each fence and each note. No value in a key begins with %fe,
// because Escape writes capital letters after a %.
const Prefix = "%fence#"

// Kept is how long fences and notes stay. A stream keeps its records for 24 hours.
const Kept = 25 * time.Hour

// Streams is the function that notes fences, as notes name it.
const Streams = "streams"

// Key returns where a fence is stored. Neither run nor n has a #. A fence that is put again has
// another sort key.
func Key(run, n string) event.Key { return event.Key{PK: Prefix + run + "#" + n, SK: "-"} }

// NotesKey returns the partition of the notes of a run, in the aggregates table.
func NotesKey(run string) string { return Prefix + run }

// LaneNote returns the sort key of the note of a lane.
func LaneNote(function string, lane event.Lane) string {
	return function + "#" + lanes.LaneIDOf(lane).String()
}

// Attributes of a note, beside the key and expiresAt. Passed lists the fences of a batch without a
// shard id, which are in no lane.
const (
	Sequence = "sequence"
	Passed   = "fences"
)

// Client is what a function needs to write notes.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Notes writes what one function notes.
type Notes struct {
	Client   Client
	Table    string // the aggregates table
	Function string
}

// Write notes the fences that are put by changes of a batch, in the order of the stream. All
// records of the batch before unproven must be done; if unproven is zero, all records are. An error
// says that a note may be missing, which does no harm.
func (n Notes) Write(ctx context.Context, changes []event.Change, unproven event.Sequence) error {
	var runs []string
	done := map[string][]event.Change{}
	for i := range changes {
		c := &changes[i]
		passed := unproven.IsZero() || c.Sequence.Compare(unproven) < 0
		if !passed || c.Kind != event.Insert || !strings.HasPrefix(c.Key.PK, Prefix) { // not its removal by time to live
			continue
		}
		run, _ := split(c.Key)
		if done[run] == nil {
			runs = append(runs, run)
		}
		done[run] = append(done[run], *c)
	}
	var failed error
	for _, run := range runs {
		_, err := n.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &n.Table, Item: n.note(run, done[run])})
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return fmt.Errorf("noting a fence in the aggregates table %s: %w", n.Table, awserr.Quiet(failed))
	}
	return nil
}

// split returns the run and the name of a fence.
func split(key event.Key) (run, n string) {
	run, n, _ = strings.Cut(strings.TrimPrefix(key.PK, Prefix), "#")
	return run, n
}

// note returns the note of the fences of one run.
func (n Notes) note(run string, fences []event.Change) rows.Image {
	last := &fences[len(fences)-1]
	item := rows.Image{"PK": rows.Text(NotesKey(run)), "SK": rows.Text(LaneNote(n.Function, last.Lane)),
		Sequence: rows.Text(last.Sequence.String()), "expiresAt": rows.Integer(last.Created.Add(Kept).Unix())}
	if last.Lane.ShardID == "" { // it is not known which shards these are of
		names := make([]string, len(fences))
		for i := range fences {
			_, names[i] = split(fences[i].Key)
		}
		item["SK"], item[Passed] = rows.Text(n.Function+"#"+names[0]), rows.Text(strings.Join(names, " "))
	}
	return item
}
