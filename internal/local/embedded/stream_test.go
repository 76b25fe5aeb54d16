package embedded_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// shards lists all shards, two on a page.
func (w *world) shards() (out []types.Shard) {
	w.Helper()
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn, Limit: aws.Int32(2)}
	for {
		d, err := w.e.Streams().DescribeStream(background, in)
		held(w, err)
		out = append(out, d.StreamDescription.Shards...)
		if d.StreamDescription.LastEvaluatedShardId == nil {
			return out
		}
		in.ExclusiveStartShardId = d.StreamDescription.LastEvaluatedShardId
	}
}

func (w *world) iterator(shard *string, kind types.ShardIteratorType, seq string) (*string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &w.arn, ShardId: shard, ShardIteratorType: kind}
	if seq != "" {
		in.SequenceNumber = aws.String(seq)
	}
	out, err := w.e.Streams().GetShardIterator(background, in)
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// read returns the records of a shard from the iterator on, limit at a time. It also returns
// whether the shard came to an end.
func (w *world) read(it *string, limit int32) (records []types.Record, ended bool) {
	w.Helper()
	for {
		out, err := w.e.Streams().GetRecords(background, &dynamodbstreams.GetRecordsInput{ShardIterator: it, Limit: aws.Int32(limit)})
		held(w, err)
		records = append(records, out.Records...)
		if out.NextShardIterator == nil {
			return records, true
		}
		if len(out.Records) == 0 {
			return records, false
		}
		it = out.NextShardIterator
	}
}

func (w *world) readShard(sh types.Shard) ([]types.Record, bool) {
	w.Helper()
	it, err := w.iterator(sh.ShardId, types.ShardIteratorTypeTrimHorizon, "")
	held(w, err)
	return w.read(it, 7)
}

func sequence(t *testing.T, text string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) < 21 || len(text) > 25 || text[0] == '0' {
		t.Fatalf("sequence number %q is not 21 to 25 digits", text)
	}
	return v
}

func streamText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return fmt.Sprint(v)
}

// TestStreamTellsTheHistory writes a random history while shards roll and split. Then it reads
// parents before children. The stream must tell the exact history of every item: each change once,
// in order, with its images.
func TestStreamTellsTheHistory(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t, func(c *embedded.Config) { c.Seed, c.Partitions, c.RollAfter = seed, 1+r.IntN(4), time.Hour })
			model := map[string]string{}
			var history = map[string][]string{} // by partition key: "old>new"
			for i := range 1500 {
				switch r.IntN(60) {
				case 0:
					held(t, w.e.RollShards("events"))
				case 1:
					w.clock.advance(time.Duration(r.IntN(40)) * time.Minute)
				case 2:
					shards := w.shards()
					sh := shards[r.IntN(len(shards))]
					if err := w.e.SplitShard("events", *sh.ShardId); (err == nil) != (sh.SequenceNumberRange.EndingSequenceNumber == nil) {
						t.Fatalf("split of %v: %v", sh, err)
					}
				}
				pk, v := fmt.Sprint("item", r.IntN(40)), fmt.Sprint(r.IntN(3))
				if r.IntN(5) == 0 {
					_, err := w.db.DeleteItem(background,
						&dynamodb.DeleteItemInput{TableName: aws.String("events"), Key: key(pk, "1")})
					held(t, err)
					v = ""
				} else {
					w.put(item(pk, "1", attrs{"v": n(v)}))
				}
				if old := model[pk]; old != v {
					history[pk] = append(history[pk], old+">"+v)
				}
				model[pk] = v
				_ = i
			}
			told, ids, crossed := map[string][]string{}, map[string]bool{}, false
			lastOf := map[string]*big.Int{}
			for _, sh := range w.shards() {
				if sh.ParentShardId != nil && lastOf[*sh.ParentShardId] == nil {
					t.Errorf("shard %s is listed before its parent", *sh.ShardId)
				}
				if !strings.HasPrefix(*sh.ShardId, "shardId-0000000") || len(*sh.ShardId) != len("shardId-00000001573689847184-864758bb") {
					t.Errorf("shard id %s", *sh.ShardId)
				}
				records, ended := w.readShard(sh)
				if ended != (sh.SequenceNumberRange.EndingSequenceNumber != nil) {
					t.Errorf("shard %s: ended %v, range %v", *sh.ShardId, ended, sh.SequenceNumberRange)
				}
				last := sequence(t, *sh.SequenceNumberRange.StartingSequenceNumber)
				length := 0
				for _, rec := range records {
					d := rec.Dynamodb
					seq := sequence(t, *d.SequenceNumber)
					if seq.Cmp(last) <= 0 {
						t.Fatalf("sequence %s after %s", seq, last)
					}
					crossed = crossed || (length > 0 && length != len(*d.SequenceNumber))
					last, length = seq, len(*d.SequenceNumber)
					if ids[*rec.EventID] {
						t.Errorf("event id %s twice", *rec.EventID)
					}
					ids[*rec.EventID] = true
					old, new, kind := "", "", types.OperationTypeModify
					if d.OldImage != nil {
						old = streamText(d.OldImage["v"])
					} else {
						kind = types.OperationTypeInsert
					}
					if d.NewImage != nil {
						new = streamText(d.NewImage["v"])
					} else {
						kind = types.OperationTypeRemove
					}
					if rec.EventName != kind || rec.UserIdentity != nil || d.ApproximateCreationDateTime.Nanosecond() != 0 ||
						d.StreamViewType != types.StreamViewTypeNewAndOldImages || len(d.Keys) != 2 || *d.SizeBytes <= 0 {
						t.Errorf("record %+v, %+v", rec, d)
					}
					pk := streamText(d.Keys["PK"])
					told[pk] = append(told[pk], old+">"+new)
				}
				lastOf[*sh.ShardId] = last
				if end := sh.SequenceNumberRange.EndingSequenceNumber; end != nil && sequence(t, *end).Cmp(last) != 0 {
					t.Errorf("shard %s ends at %s, last record %s", *sh.ShardId, *end, last)
				}
			}
			must.Equal(t, fmt.Sprint(told), fmt.Sprint(history))
			if !crossed {
				t.Error("no shard's sequence numbers grew by a digit")
			}
		})
	}
}

func TestShardIterators(t *testing.T) {
	w := newWorld(t, func(c *embedded.Config) { c.Partitions = 1 })
	for i := range 10 {
		w.put(item("a", fmt.Sprint(i), nil))
	}
	shard := w.shards()[0]
	records, _ := w.readShard(shard)
	at := func(i int) string { return *records[i].Dynamodb.SequenceNumber }
	for _, tt := range []struct {
		kind types.ShardIteratorType
		seq  string
		want int
	}{
		{types.ShardIteratorTypeTrimHorizon, "", 10}, {types.ShardIteratorTypeLatest, "", 0},
		{types.ShardIteratorTypeAtSequenceNumber, at(4), 6}, {types.ShardIteratorTypeAfterSequenceNumber, at(4), 5},
		{types.ShardIteratorTypeAfterSequenceNumber, at(9), 0},
		{types.ShardIteratorTypeAtSequenceNumber, "0000000000000000000" + at(4), 6}, // as wide as 40 digits
	} {
		if len(tt.seq) > 40 {
			tt.seq = tt.seq[len(tt.seq)-40:]
		}
		it, err := w.iterator(shard.ShardId, tt.kind, tt.seq)
		held(t, err)
		if got, _ := w.read(it, 1000); len(got) != tt.want {
			t.Errorf("%s %s: %d records, want %d", tt.kind, tt.seq, len(got), tt.want)
		}
	}
	_, err := w.iterator(shard.ShardId, types.ShardIteratorTypeAtSequenceNumber, "12x")
	expectInvalid(t, err, "Invalid SequenceNumber")
	_, err = w.e.Streams().GetRecords(background, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("nonsense")})
	expectInvalid(t, err, "Invalid ShardIterator")
	var missing *types.ResourceNotFoundException
	if _, err := w.iterator(aws.String("nosuch"), types.ShardIteratorTypeLatest, ""); !errors.As(err, &missing) {
		t.Errorf("missing shard: %v", err)
	}
	latest, err := w.iterator(shard.ShardId, types.ShardIteratorTypeLatest, "")
	held(t, err)
	w.put(item("a", "new", nil))
	if got, _ := w.read(latest, 1); len(got) != 1 || streamText(got[0].Dynamodb.Keys["SK"]) != "new" {
		t.Errorf("from LATEST: %v", got)
	}
}

func TestTrimming(t *testing.T) {
	w := newWorld(t, func(c *embedded.Config) { c.Partitions, c.RollAfter = 1, -1 })
	w.put(item("a", "1", nil))
	w.put(item("a", "2", nil))
	shard := w.shards()[0]
	old, err := w.iterator(shard.ShardId, types.ShardIteratorTypeTrimHorizon, "")
	held(t, err)
	records, _ := w.readShard(shard)
	first, second := *records[0].Dynamodb.SequenceNumber, *records[1].Dynamodb.SequenceNumber
	w.clock.advance(24 * time.Hour)
	w.put(item("a", "3", nil))
	if got, _ := w.readShard(shard); len(got) != 1 {
		t.Errorf("%d records after a day, want the new one", len(got))
	}
	var trimmed *types.TrimmedDataAccessException
	if _, err := w.e.Streams().GetRecords(background, &dynamodbstreams.GetRecordsInput{ShardIterator: old}); !errors.As(err, &trimmed) {
		t.Errorf("old iterator: %v", err)
	}
	if _, err := w.iterator(shard.ShardId, types.ShardIteratorTypeAfterSequenceNumber, first); !errors.As(err, &trimmed) {
		t.Errorf("after a record that is gone, with another gone behind it: %v", err)
	}
	it, err := w.iterator(shard.ShardId, types.ShardIteratorTypeAfterSequenceNumber, second)
	if err != nil {
		t.Fatalf("after the last record that is gone nothing is missing: %v", err)
	}
	if got, _ := w.read(it, 10); len(got) != 1 {
		t.Errorf("%d records behind it, want 1", len(got))
	}
}

// TestRolling shows that shards roll by age, and that closed shards are dropped after a day.
func TestRolling(t *testing.T) {
	w := newWorld(t)
	if got := len(w.shards()); got != 2 {
		t.Fatalf("%d shards, want 2", got)
	}
	w.put(item("a", "1", nil))
	w.clock.advance(4 * time.Hour)
	must.Equal(t, len(w.shards()), 4)
	w.clock.advance(24 * time.Hour)
	shards := w.shards()
	if len(shards) != 4 { // the first two are gone; the next two have just closed
		t.Errorf("%d shards after a further day, want 4", len(shards))
	}
	for _, sh := range shards {
		if sh.ParentShardId == nil {
			t.Errorf("shard %s has no parent", *sh.ShardId)
		}
	}
}

func TestSweepIsKnownByItsIdentity(t *testing.T) {
	w := newWorld(t, func(c *embedded.Config) { c.Partitions = 1 })
	w.put(item("a", "1", attrs{"expiresAt": n(fmt.Sprint(w.clock.at.Unix()))}))
	w.e.SweepExpired()
	records, _ := w.readShard(w.shards()[0])
	if len(records) != 2 || records[1].EventName != types.OperationTypeRemove {
		t.Fatalf("records %v", records)
	}
	if id := records[1].UserIdentity; id == nil || *id.Type != "Service" || *id.PrincipalId != "dynamodb.amazonaws.com" {
		t.Errorf("identity %v", id)
	}
}

func TestListStreams(t *testing.T) {
	w := newWorld(t)
	w.createTable("other")
	out, err := w.e.Streams().ListStreams(background, &dynamodbstreams.ListStreamsInput{TableName: aws.String("events")})
	if err != nil || len(out.Streams) != 1 || *out.Streams[0].StreamArn != w.arn {
		t.Errorf("of one table: %v, %v", out, err)
	}
	first, err := w.e.Streams().ListStreams(background, &dynamodbstreams.ListStreamsInput{Limit: aws.Int32(1)})
	if err != nil || len(first.Streams) != 1 || first.LastEvaluatedStreamArn == nil {
		t.Fatalf("first page: %v, %v", first, err)
	}
	rest, err := w.e.Streams().ListStreams(background,
		&dynamodbstreams.ListStreamsInput{ExclusiveStartStreamArn: first.LastEvaluatedStreamArn})
	if err != nil || len(rest.Streams) != 1 || rest.LastEvaluatedStreamArn != nil {
		t.Errorf("second page: %v, %v", rest, err)
	}
}

// TestLargeRecords shows that GetRecords stops at 1 MB.
func TestLargeRecords(t *testing.T) {
	w := newWorld(t, func(c *embedded.Config) { c.Partitions = 1 })
	for i := range 5 {
		w.put(item("a", fmt.Sprint(i), attrs{"v": s(strings.Repeat("x", 300_000))}))
	}
	it, err := w.iterator(w.shards()[0].ShardId, types.ShardIteratorTypeTrimHorizon, "")
	held(t, err)
	out, err := w.e.Streams().GetRecords(background, &dynamodbstreams.GetRecordsInput{ShardIterator: it})
	if err != nil || len(out.Records) != 3 || out.NextShardIterator == nil {
		t.Errorf("%d records, %v; want 3 of 5", len(out.Records), err)
	}
}

// TestReadingAgain shows that records that were read long ago are the same when they are read
// again.
func TestReadingAgain(t *testing.T) {
	w := newWorld(t)
	for i := range 5000 {
		w.put(item("k", fmt.Sprint(i), attrs{"v": n(fmt.Sprint(i))}))
	}
	for _, sh := range w.shards() {
		it, err := w.iterator(sh.ShardId, types.ShardIteratorTypeTrimHorizon, "")
		held(t, err)
		first, _ := w.read(it, 1000)
		again, _ := w.read(it, 700)
		if !reflect.DeepEqual(first, again) {
			t.Errorf("shard %s: %d records, then %d others", *sh.ShardId, len(first), len(again))
		}
	}
}

// TestForget shows that forgetting a table leaves its stream as it is.
func TestForget(t *testing.T) {
	w := newWorld(t)
	w.put(item("k", "1", attrs{"v": n("1")}))
	held(t, w.e.Forget("events"))
	if _, err := w.db.DescribeTable(background, &dynamodb.DescribeTableInput{TableName: aws.String("events")}); err == nil {
		t.Error("the table is still there")
	}
	records := 0
	for _, sh := range w.shards() {
		got, _ := w.readShard(sh)
		records += len(got)
	}
	must.Equal(t, records, 1)
	if err := w.e.Forget("events"); err == nil {
		t.Error("it was forgotten twice")
	}
}
