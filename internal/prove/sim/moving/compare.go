package moving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	tool "github.com/ingot-events/ingot/internal/tool/migrate"
	"github.com/ingot-events/ingot/migrate"
)

// Counted proves how far capture is, as the tool does.
func (w *world) Counted(ctx context.Context) (time.Time, error) {
	s := w.sync()
	c, err := s.Control(ctx)
	if err != nil {
		return time.Time{}, err
	}
	reader := doubtful{w.readers.Reader(w.engine.Streams()), w}
	proof := tool.Proof{Ends: tool.Ends{Client: reader, Clock: w.Env(w.Rng.Float64, 0)}, Migration: s,
		Streams: strings.Fields(s.Streams(c)), Covered: c.Compared}
	return proof.Counted(ctx)
}

// noteCaptured notes what is proven.
func (w *world) noteCaptured() error {
	ctx := context.Background()
	at, err := w.Counted(ctx)
	if err != nil {
		return err
	}
	c, err := w.sync().Control(ctx)
	if err == nil {
		err = w.sync().NoteCaptured(ctx, w.sync().Streams(c), at)
	}
	return err
}

// doubtful is a stream as AWS promises it: an answer may be empty although records follow, and a
// record appears some seconds after it was written.
type doubtful struct {
	esm.StreamClient
	w *world
}

func (d doubtful) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	d.w.Pause()
	empty := &dynamodbstreams.GetRecordsOutput{NextShardIterator: in.ShardIterator}
	if d.w.Chance(0.5) {
		return empty, nil
	}
	out, err := d.StreamClient.GetRecords(ctx, in, options...)
	if err == nil && len(out.Records) > 0 &&
		aws.ToTime(out.Records[0].Dynamodb.ApproximateCreationDateTime).Add(10*time.Second).After(d.w.Now) {
		return empty, nil
	}
	return out, err
}

// compared compares the tables until that succeeds.
func (w *world) compared(then func(*migrate.Compared)) {
	w.People(func() {
		for {
			c, err := w.comparison(w.Within(3 * time.Hour))
			if err == nil {
				then(c)
				return
			}
			if w.units.IntN(2) == 0 { // the folder may be of before a change
				w.sums.Work = &testworld.Folder{}
			}
			w.Sleep(time.Minute)
		}
	})
}

// comparison compares in one of the ways in which people do: at once, with files and checkpoints,
// or in units of work, each in a process of its own.
func (w *world) comparison(ctx context.Context) (*migrate.Compared, error) {
	if w.sums.Segments == 0 {
		return w.sync().Compare(ctx, w)
	}
	unit := func() *migrate.Comparison {
		c, err := w.sync().Comparison(ctx, w.sums)
		if err != nil {
			return nil
		}
		return c
	}
	if w.sums.Segments == 1 {
		c, err := w.sync().Comparison(ctx, w.sums)
		if err != nil {
			return nil, err
		}
		return c.Run(ctx, w)
	}
	zombies := 0
	for _, segment := range w.units.Perm(w.sums.Segments) {
		read := func() error {
			c := unit()
			if c == nil {
				return errUnit
			}
			_, err := c.Segment(ctx, segment)
			return err
		}
		if w.units.IntN(2) == 0 { // a process that was given up goes on
			zombies++
			w.Spawn("zombie", nil, func() { read(); zombies-- })
		}
		for try := 0; read() != nil; try++ {
			if try == 20 {
				return nil, errUnit
			}
			w.Sleep(time.Second)
		}
	}
	w.Park(w.Now.Add(time.Hour), func() bool { return zombies == 0 })
	for bucket := range w.sums.Buckets {
		for range 1 + w.units.IntN(2) {
			c := unit()
			if c == nil {
				return nil, errUnit
			}
			if err := c.Merge(ctx, bucket); err != nil {
				return nil, err
			}
		}
	}
	c := unit()
	if c == nil {
		return nil, errUnit
	}
	return c.Finish(ctx, w)
}

// errUnit says that a unit of work cannot begin now.
var errUnit = errors.New("a unit of work does not begin")

// compare compares while an application writes, which must find no difference, and then at rest,
// where it must find the one that somebody has made.
func (w *world) compare() {
	w.Calm = w.still
	w.application()
	w.compared(func(c *migrate.Compared) {
		if len(c.Differences) > 0 {
			w.Fail(Missed, "while an application writes, a comparison reports %v", c.Differences)
		}
	})
	if w.rest(); w.Failure == nil {
		w.check()
	}
	var copies []migrate.Row
	for _, img := range w.all(stack.Events) {
		if img["type"] != nil && !w.expiring(rows.IntegerOf(img["expiresAt"])) {
			copies = append(copies, img)
		}
	}
	if len(copies) == 0 || w.Failure != nil {
		return
	}
	victim := copies[w.Rng.IntN(len(copies))]
	w.alter(victim)
	w.compared(func(c *migrate.Compared) {
		if len(c.Differences) != 1 || c.Differences[0].Key.PK != text(victim["PK"]) {
			w.Fail(Missed, "%s was altered, and a comparison reports %v", keyText(victim), c.Differences)
		}
	})
	w.rest()
	_, err := w.engine.DynamoDB().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: table(stack.Events), Item: victim})
	w.Must(err)
}

// tidy does what must be done before a turn: rows that are refused, and all but one of those that
// claim one key, are deleted. Until then, nothing turns.
func (w *world) tidy() {
	ctx := context.Background()
	if c, err := w.sync().Control(ctx); err == nil && c.Filled < c.Pass { // the last pass was given up
		w.People(w.fill)
		w.rest()
	}
	gone := w.untidy()
	w.compared(func(c *migrate.Compared) {
		if c.Clean() == (len(gone) > 0) {
			w.Fail(Missed, "%d rows stand against a turn, and a comparison finds %+v", len(gone), c)
		}
	})
	if w.rest(); w.Failure != nil || len(gone) == 0 {
		return
	}
	if _, err := w.sync().Turn(ctx, migrate.Quiet); err == nil {
		w.Fail(Early, "a type turns although %d rows stand against that", len(gone))
	}
	w.drop()
	w.rest()
	w.compared(func(c *migrate.Compared) {
		if !c.Clean() {
			w.Fail(Missed, "nothing stands against a turn any more, and a comparison finds %+v", c)
		}
	})
	w.rest()
}

// untidy returns the keys of rows that stand against a turn: those that are refused, all but one of
// those that claim one key, and after a turn those that are skipped and have the key of an event's
// row.
func (w *world) untidy() (gone []migrate.Row) {
	claimed, barred, taken := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, img := range w.all(stack.Events) {
		if barred[text(img["PK"])] = img["i:barred"] != nil; w.backward && img["type"] != nil {
			taken[rowKey(text(img["data"]))] = true
		}
	}
	for _, row := range w.all(w.old.Table) {
		m, items := w.mapping.Map(row), w.items(row)
		account := text(row["account"])
		twice := !w.backward && len(items) > 0 && claimed[account] && !barred[items[0].Key.PK]
		if m.Refusal != nil || twice || m.Skip != "" && taken[text(row["pk"])+" "+text(row["at"])] {
			gone = append(gone, migrate.Row{"pk": row["pk"], "at": row["at"]})
		} else if len(items) > 0 {
			claimed[account] = true
		}
	}
	return gone
}

// drop deletes what stands against a turn. After one, it also deletes events that share a row with
// another, which is what a forgotten job leaves that writes while the sides are exchanged.
func (w *world) drop() {
	rows := map[string]bool{}
	for _, row := range w.all(w.old.Table) {
		rows[rowText(row)+" "+text(row["account"])] = true
	}
	for _, img := range w.all(stack.Events) {
		row := rowKey(text(img["data"]))
		if w.backward && img["type"] != nil && w.noise[row] && !rows[row+" "+text(img["id"])] {
			_, err := w.engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: table(stack.Events),
				Key: migrate.Row{"PK": img["PK"], "SK": img["SK"]}})
			w.Must(err)
		}
	}
	for _, key := range w.untidy() {
		w.wrote[rowText(key)] = ""
		_, err := w.engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &w.old.Table, Key: key})
		w.Must(err)
	}
}

func table(name string) *string { return &name }

// alter changes a copy by hand, or removes it, or adds one that no row has.
func (w *world) alter(img migrate.Row) {
	ctx, events := context.Background(), table(stack.Events)
	if w.Chance(0.3) {
		_, err := w.engine.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: events,
			Key: migrate.Row{"PK": img["PK"], "SK": img["SK"]}})
		w.Must(err)
		return
	}
	altered := migrate.Row{}
	for name, v := range img {
		altered[name] = v
	}
	altered["GSI1SK"] = s(fmt.Sprint(text(img["GSI1SK"]), "?"))
	_, err := w.engine.DynamoDB().PutItem(ctx, &dynamodb.PutItemInput{TableName: events, Item: altered})
	w.Must(err)
}
