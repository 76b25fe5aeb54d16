// Package drained asks whether a function has done everything that was written to the events table
// before a moment. The answer is proven, or not known. [Question.Ask] puts fences into the table,
// as package fences describes them, and waits until the function has noted one in each shard of the
// table's stream.
//
// Why that proves it: a shard holds its records in the order in which they were written, and the
// fence was written after the question began. Lambda gives the records of a shard to the function
// in their order, one batch at a time, and goes on only when the function says that a batch is
// done. It reads a shard only after the shard from which that one came
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html). So closed shards
// need no fence. No clock, no empty answer and no metric is part of the proof.
package drained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/pause"
)

// TableClient is what a question needs of DynamoDB. A *dynamodb.Client is one.
type TableClient interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Shards is what a question needs of DynamoDB Streams. A *dynamodbstreams.Client is one.
type Shards interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
}

// Question is whether a function has done everything that was written before a moment.
type Question struct {
	Tables             TableClient
	Shards             Shards
	Events, Aggregates string // the names of the tables
	Function           string // the name of the function at Lambda
	Notes              string // as its notes name it: see package fences
	// Mappings reads the function's event source mappings, as [pause.Read] does.
	Mappings func(context.Context) ([]pause.Mapping, error)
	// Patience is how long the answer is waited for. 0: the question is asked once.
	Patience time.Duration
	Env      env.Env
	// Tell is called with what is waited for. It may be nil.
	Tell func(format string, args ...any)
}

// Patience is how long an answer is waited for if nobody says how long.
const Patience = 15 * time.Minute

// These times decide how often notes are read, and when more fences are put: after each wait, the
// next one is twice as long.
const (
	firstLook   = 50 * time.Millisecond
	lastLook    = 2 * time.Second
	firstFences = 5 * time.Second
)

// parallel is how many fences are put at a time.
const parallel = 16

// Blind is how many fences each shard gets if the function is not told the shard of a batch. All of
// them must be noted: a shard to which a quarter of its fair share of the keys belongs is then
// missed once in e^16, which is nine million.
const Blind = 64

// Ask returns a moment, by the clock of the question, before which the function has done
// everything. It is the moment at which Ask was called. Otherwise the error is an [*Unknown], or
// the error of ctx, or that of a request.
func (q Question) Ask(ctx context.Context) (time.Time, error) {
	q.Env = q.Env.Real()
	a := &asking{Question: q, began: q.Env.Now(), noted: map[string]bool{}}
	if q.Tell == nil {
		a.Tell = func(string, ...any) {}
	}
	a.run = strconv.FormatInt(a.began.UnixNano(), 36) + strconv.FormatInt(int64(q.Env.Rand()*(1<<52)), 36)
	return a.began, a.wait(ctx)
}

// asking is a question under way.
type asking struct {
	Question
	began  time.Time
	run    string
	stream string // its ARN
	mapped pause.Mapping
	leaves []shard         // the shards that have no child
	noted  map[string]bool // the sort keys of notes, and the names of fences that a note without a shard lists
	blind  bool            // the function is not told the shard of a batch
	put    int             // fences
	times  int             // how often fences were put
	tries  int             // how often fences were put because of blind
	set    []string        // their names
}

type shard struct{ id, parent string }

// wait puts fences and reads notes until the question is answered.
func (a *asking) wait(ctx context.Context) error {
	if err := a.find(ctx); err != nil {
		return err
	}
	look, fence, due := firstLook, firstFences, a.began
	for {
		if now := a.Env.Now(); !now.Before(due) {
			if a.put > 0 && due != a.began {
				a.Tell("%s", a.unknown("").waiting())
			}
			for _, step := range []func(context.Context) error{a.again, a.list, a.fence} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			due, fence = a.Env.Now().Add(fence), 2*fence
		}
		if err := a.Env.Sleep(ctx, look); err != nil {
			return err
		}
		look = min(2*look, lastLook)
		if err := a.read(ctx); err != nil {
			return err
		}
		if a.done() { // a list may lack what is new; and that a batch has none beside it must still be so
			if err := a.list(ctx); err != nil || a.done() {
				return errors.Join(err, a.again(ctx))
			}
		}
		switch {
		case a.blind && a.tries == 0:
			due, fence = a.Env.Now(), 6*firstFences
		case a.Env.Now().Sub(a.began) >= a.Patience:
			return a.unknown("")
		}
	}
}

// find finds the stream of the events table, and makes sure that the function reads it.
func (a *asking) find(ctx context.Context) error {
	out, err := a.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &a.Events})
	if err != nil {
		return fmt.Errorf("the stream of the table %s: %w", a.Events, err)
	}
	if out.Table == nil || aws.ToString(out.Table.LatestStreamArn) == "" || out.Table.StreamSpecification == nil ||
		!aws.ToBool(out.Table.StreamSpecification.StreamEnabled) {
		return a.unknown("the table " + a.Events + " has no stream that is on")
	}
	a.stream = *out.Table.LatestStreamArn
	return nil
}

// again looks at the mapping, which may have been switched off meanwhile.
func (a *asking) again(ctx context.Context) error {
	list, err := a.Mappings(ctx)
	if err != nil {
		return err
	}
	a.mapped = pause.Mapping{}
	table, _, _ := strings.Cut(a.stream, "/stream/")
	for _, m := range list {
		switch {
		case m.Source == a.stream:
			m.Factor = max(m.Factor, a.mapped.Factor)
			a.mapped = m
		case strings.HasPrefix(m.Source, table+"/stream/"):
			return a.unknown("it also reads " + m.Source + ", an earlier stream of the same table, and may not have read it to its end")
		}
	}
	switch {
	case a.mapped.Source == "":
		return a.unknown("it does not read " + a.stream + ", which is the stream of the table now")
	case a.mapped.Off():
		return a.unknown("")
	case a.mapped.State == "Updating": // batches of the mapping as it was may still be in work
		return a.unknown("its event source mapping is being changed: ask again when that is done")
	case a.mapped.Factor > 1:
		return a.unknown(fmt.Sprintf("its event source mapping has ParallelizationFactor %d. A batch proves nothing of the batches "+
			"beside it: set it to 1", a.mapped.Factor))
	}
	return nil
}

// list lists the shards that have no child. All keys of the table belong to them.
func (a *asking) list(ctx context.Context) error {
	var all []shard
	parents := map[string]bool{}
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &a.stream}
	for {
		out, err := a.Shards.DescribeStream(ctx, in)
		if err != nil {
			return fmt.Errorf("the shards of %s: %w", a.stream, err)
		}
		for _, s := range out.StreamDescription.Shards {
			all = append(all, shard{aws.ToString(s.ShardId), aws.ToString(s.ParentShardId)})
			parents[aws.ToString(s.ParentShardId)] = true
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	above := map[string]string{}
	for _, s := range all {
		above[s.id] = s.parent
	}
	a.leaves = a.leaves[:0]
	for _, s := range all {
		if parents[s.id] {
			continue
		}
		// A shard that came from one with a note began after the question.
		for id, known := s.id, true; known && !a.noted[a.note(s.id)]; id, known = above[id], above[id] != "" {
			if a.noted[a.note(id)] {
				a.noted[a.note(s.id)] = true
			}
		}
		a.leaves = append(a.leaves, s)
	}
	if len(a.leaves) == 0 {
		return a.unknown("its stream " + a.stream + " shows no shard")
	}
	return nil
}

// note returns the sort key of the note of a shard.
func (a *asking) note(id string) string {
	return fences.LaneNote(a.Notes, event.Lane{StreamARN: a.stream, ShardID: id})
}

// missing lists the shards without a note.
func (a *asking) missing() (ids []string) {
	for _, s := range a.leaves {
		if !a.noted[a.note(s.id)] {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// done reports whether all that was written before the first fence is done.
func (a *asking) done() bool {
	if len(a.leaves) > 0 && len(a.missing()) == 0 {
		return true
	}
	return a.tries > 0 && len(a.unpassed()) == 0
}

// unpassed lists the fences without a note, of those that are put because of blind.
func (a *asking) unpassed() []string {
	return slices.DeleteFunc(slices.Clone(a.set), func(n string) bool { return a.noted[n] })
}

// fence puts fences. After S·(ln S + 2) of them, each of S shards has one six times in seven, if
// each has the same share of the keys. The rest takes more of them. Without shards, a fence whose
// note is missing, which may be lost, is put again under the same partition key. So it is in the
// same shard, or in one that came from it.
func (a *asking) fence(ctx context.Context) error {
	shards := len(a.leaves)
	a.times++
	n := 2 * shards * a.times
	switch {
	case a.blind:
		n = Blind * shards
	case a.put == 0:
		n = int(math.Ceil(float64(shards) * (math.Log(float64(shards)) + 2)))
	}
	set, sk := a.unpassed(), "-"
	if a.tries > 0 {
		n, sk = 0, strconv.Itoa(a.tries)
	}
	for range n {
		set = append(set, strconv.Itoa(a.put))
		a.put++
	}
	if a.blind && a.tries == 0 {
		a.set = set
	}
	if a.blind {
		a.tries++
	}
	expires := rows.Integer(a.began.Add(fences.Kept).Unix())
	var mu sync.Mutex
	var failed error
	a.Env.Each(len(set), parallel, func(i int) {
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			return
		}
		item := rows.KeyImage(fences.Key(a.run, set[i]))
		item["SK"], item["expiresAt"] = rows.Text(sk), expires
		if _, err := a.Tables.PutItem(ctx, &dynamodb.PutItemInput{TableName: &a.Events, Item: item}); err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
	})
	if failed != nil {
		return fmt.Errorf("putting a fence into the table %s: %w", a.Events, failed)
	}
	return nil
}

// read reads the notes of the run.
func (a *asking) read(ctx context.Context) error {
	pages := dynamodb.NewQueryPaginator(a.Tables, &dynamodb.QueryInput{TableName: &a.Aggregates, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("PK = :pk AND begins_with(SK, :function)"),
		ExpressionAttributeValues: rows.Image{":pk": rows.Text(fences.NotesKey(a.run)), ":function": rows.Text(a.Notes + "#")}})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("the notes of fences in the table %s: %w", a.Aggregates, err)
		}
		for _, item := range out.Items {
			if names := rows.TextOf(item[fences.Passed]); names == "" {
				a.noted[rows.TextOf(item["SK"])] = true
			} else {
				a.blind = true
				for _, n := range strings.Fields(names) {
					a.noted[n] = true
				}
			}
		}
	}
	return nil
}
