package contract

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/stack"
)

// shards lists the shards of the table's stream, as the stream mapping does.
func (w *table) shards() []types.Shard {
	w.Helper()
	var all []types.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &w.stream}
	for {
		out, err := w.h.Streams.DescribeStream(ctx, in)
		held(w, err)
		all = append(all, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return all
		}
	}
}

// iterator returns a place in a shard: after a sequence number, or at the first record there is.
func (w *table) iterator(shard, after string) *string {
	w.Helper()
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &w.stream, ShardId: &shard,
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
	if after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
	}
	out, err := w.h.Streams.GetShardIterator(ctx, in)
	held(w, err)
	return out.ShardIterator
}

// read returns what a shard holds from an iterator on, and the iterator with which to go on.
func (w *table) read(from *string) (records []types.Record, next *string) {
	w.Helper()
	for {
		out, err := w.h.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: from, Limit: aws.Int32(1000)})
		held(w, err)
		records = append(records, out.Records...)
		if from = out.NextShardIterator; len(out.Records) == 0 || from == nil {
			return records, from
		}
	}
}

// records waits for n records in all shards and returns them by shard.
func (w *table) records(n int) map[string][]types.Record {
	w.Helper()
	var byShard map[string][]types.Record
	w.h.Until(w, fmt.Sprint(n, " records"), func() bool {
		byShard = map[string][]types.Record{}
		found := 0
		for _, shard := range w.shards() {
			id := aws.ToString(shard.ShardId)
			byShard[id], _ = w.read(w.iterator(id, ""))
			found += len(byShard[id])
		}
		if found > n {
			w.Fatalf("%d records, want %d", found, n)
		}
		return found == n
	})
	return byShard
}

// wanted is the expected content of a record.
type wanted struct {
	name     types.OperationType
	old, new attrs
}

func records(t *testing.T, h *Harness) {
	h.run(t, "off and on again, and a table that is made again", func(t *testing.T) { switched(t, h) })
	h.run(t, "the life of one item", func(t *testing.T) {
		w := newTable(t, h)
		began := time.Now()
		k := key("a", "1")
		first, second := with(k, attrs{"type": s("order"), "digest": b("\x00\xff"), "epoch": n("1.0"), "meta": m(attrs{"x": s("y")}),
			"live": yes(true)}), with(k, attrs{"epoch": n("2")})
		w.put(first)
		first["epoch"] = n("1")
		w.put(first) // it changes nothing, so there is no record
		w.put(second)
		if _, err := w.db.DeleteItem(ctx, &ddb.DeleteItemInput{TableName: &w.name, Key: k}); err != nil {
			t.Fatal(err)
		}
		// Nothing is there, so there is no record.
		if _, err := w.db.DeleteItem(ctx, &ddb.DeleteItemInput{TableName: &w.name, Key: k}); err != nil {
			t.Fatal(err)
		}
		wants := []wanted{{types.OperationTypeInsert, nil, first}, {types.OperationTypeModify, first, second},
			{types.OperationTypeRemove, second, nil}}
		if pick(t, h, "a put that changes nothing", false, true) {
			wants = slices.Insert(wants, 1, wanted{types.OperationTypeModify, first, first})
		}
		var all []types.Record
		for _, records := range w.records(len(wants)) {
			if len(records) > 0 && len(all) > 0 {
				t.Error("the changes of one item are in two open shards")
			}
			all = append(all, records...)
		}
		for i, want := range wants {
			r := all[i]
			if r.EventName != want.name || r.Dynamodb.StreamViewType != types.StreamViewTypeNewAndOldImages ||
				aws.ToString(r.EventID) == "" || aws.ToString(r.EventSource) != "aws:dynamodb" {
				t.Errorf("record %d: %s, view %s, id %q, source %q", i, r.EventName, r.Dynamodb.StreamViewType, aws.ToString(r.EventID),
					aws.ToString(r.EventSource))
			}
			if r.UserIdentity != nil {
				t.Errorf("record %d: a person's change has an identity: %v", i, *r.UserIdentity)
			}
			w.same("keys", plain(r.Dynamodb.Keys), k)
			w.same("old image", plain(r.Dynamodb.OldImage), want.old)
			w.same("new image", plain(r.Dynamodb.NewImage), want.new)
			at := aws.ToTime(r.Dynamodb.ApproximateCreationDateTime)
			if off := at.Sub(began); off < -time.Minute || off > time.Minute {
				t.Errorf("record %d was created at %v, the test began at %v", i, at, began)
			}
		}
		w.ascending(all)
	})
	h.run(t, "every kind of write leaves a record", func(t *testing.T) {
		w := newTable(t, h)
		w.inserted(w.insert(key("a", "1")), w.insert(key("b", "1")))
		held(t, w.transact(w.receipt("r1"), w.add("total", "1", "")))
		if _, err := w.update(key("a", "1"), "SET #v = :v", "", map[string]string{"#v": "v"}, attrs{":v": n("1")}); err != nil {
			t.Fatal(err)
		}
		w.conditionFailed(w.putNew(key("b", "1")), key("b", "1")) // no record
		for _, records := range w.records(5) {
			w.ascending(records)
		}
	})
	h.run(t, "reading goes on where it stopped", func(t *testing.T) {
		w := newTable(t, h)
		for i := range 12 {
			w.put(with(key("a", fmt.Sprint(i)), attrs{"v": n("1")}))
		}
		for id, records := range w.records(12) {
			if len(records) == 0 {
				continue
			}
			at := len(records) / 2
			rest, next := w.read(w.iterator(id, aws.ToString(records[at].Dynamodb.SequenceNumber)))
			if got, want := numbers(rest), numbers(records[at+1:]); !slices.Equal(got, want) {
				t.Errorf("after record %d: %v, want %v", at, got, want)
			}
			last := aws.ToString(records[len(records)-1].Dynamodb.SequenceNumber)
			if rest, _ := w.read(w.iterator(id, last)); len(rest) != 0 {
				t.Errorf("%d records after the last", len(rest))
			}
			// An iterator is after what it has returned, and returns what comes later.
			w.put(with(key("a", "later"), attrs{"v": n("1")}))
			var later []types.Record
			h.Until(t, "a later record", func() bool {
				later, next = w.read(next)
				return len(later) > 0 || next == nil
			})
			if len(later) != 1 || showStream(later[0].Dynamodb.Keys) != show(key("a", "later")) {
				t.Errorf("got %d records", len(later))
			}
		}
	})
	h.run(t, "what is not there", func(t *testing.T) {
		w := newTable(t, h)
		_, err := h.Streams.DescribeStream(ctx,
			&dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(w.stream[:len(w.stream)-23] + "2001-01-01T00:00:00.000")})
		refused(t, err, pick(t, h, "a stream or a shard that is not there", "ResourceNotFoundException", ""))
		_, err = h.Streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: &w.stream,
			ShardId: aws.String("shardId-00000001573689847184-864758bb"), ShardIteratorType: types.ShardIteratorTypeTrimHorizon})
		refused(t, err, pick(t, h, "a stream or a shard that is not there", "ResourceNotFoundException", ""))
	})
}

// inserted executes statements. All of them must be done.
func (w *table) inserted(all ...ddbtypes.BatchStatementRequest) {
	w.Helper()
	got, err := w.execute(all...)
	w.outcomes(got, err, make([]ddbtypes.BatchStatementErrorCodeEnum, len(all))...)
}

// ascending asserts what marks depend on: numbers of 21 to 40 digits that grow within a shard.
func (w *table) ascending(records []types.Record) {
	w.Helper()
	short := pick(w, w.h, "sequence numbers", false, true)
	last := new(big.Int)
	for i, text := range numbers(records) {
		number, ok := new(big.Int).SetString(text, 10)
		if !ok || len(text) < 21 != short || len(text) > 40 {
			w.Errorf("record %d: sequence number %q is not 21 to 40 decimal digits", i, text)
			continue
		}
		if number.Cmp(last) <= 0 {
			w.Errorf("record %d: sequence number %s after %s", i, number, last)
		}
		last = number
	}
}

func numbers(records []types.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, aws.ToString(r.Dynamodb.SequenceNumber))
	}
	return all
}

func showStream(image map[string]types.AttributeValue) string { return show(plain(image)) }

// plain converts a stream's image to the type that the tables use.
func plain(image map[string]types.AttributeValue) attrs {
	out := attrs{}
	for name := range maps.Keys(image) {
		switch v := image[name].(type) {
		case *types.AttributeValueMemberS:
			out[name] = s(v.Value)
		case *types.AttributeValueMemberN:
			out[name] = n(v.Value)
		case *types.AttributeValueMemberB:
			out[name] = b(string(v.Value))
		case *types.AttributeValueMemberBOOL:
			out[name] = yes(v.Value)
		case *types.AttributeValueMemberM:
			out[name] = m(plain(v.Value))
		default:
			out[name] = nil
		}
	}
	return out
}

// switched asserts that a stream that is switched on again is another one, and that a table that is
// made again has another id.
func switched(t *testing.T, h *Harness) {
	w := newTable(t, h)
	describe := func() *ddbtypes.TableDescription {
		t.Helper()
		out, err := w.db.DescribeTable(ctx, &ddb.DescribeTableInput{TableName: &w.name})
		held(t, err)
		return out.Table
	}
	set := func(spec *ddbtypes.StreamSpecification) error {
		t.Helper()
		_, err := w.db.UpdateTable(ctx, &ddb.UpdateTableInput{TableName: &w.name, StreamSpecification: spec})
		h.Until(t, "the table is active", func() bool { return describe().TableStatus == ddbtypes.TableStatusActive })
		return err
	}
	on := &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: ddbtypes.StreamViewTypeNewAndOldImages}
	off := &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(false)}
	id := aws.ToString(describe().TableId)
	w.put(key("a", "1"))
	held(t, set(off))
	if now := describe(); now.StreamSpecification != nil && aws.ToBool(now.StreamSpecification.StreamEnabled) {
		t.Error("the stream is still on")
	}
	w.put(key("a", "2"))
	kept := pick(t, h, "a stream that is off", true, false)
	if kept {
		w.records(1)
	}
	held(t, set(on))
	before := w.stream
	if w.stream = aws.ToString(describe().LatestStreamArn); w.stream == before || w.stream == "" {
		t.Errorf("the stream is %q, and was %q", w.stream, before)
	}
	w.put(key("a", "3"))
	if kept {
		w.records(1)
	}
	if err := set(on); pick(t, h, "a stream that is on already", true, false) {
		refused(t, err, "ValidationException")
	}
	if id == "" || aws.ToString(describe().TableId) != id {
		t.Errorf("the id of the table was %q, and is %q", id, aws.ToString(describe().TableId))
	}
	if _, err := w.db.DeleteTable(ctx, &ddb.DeleteTableInput{TableName: &w.name}); err != nil {
		t.Fatal(err)
	}
	h.Until(t, "the table is gone", func() bool {
		_, err := w.db.DescribeTable(ctx, &ddb.DescribeTableInput{TableName: &w.name})
		return err != nil
	})
	if _, err := (stack.Table{Name: w.name}).Create(ctx, w.db); err != nil {
		t.Fatal(err)
	}
	if again := aws.ToString(describe().TableId); again == id || again == "" {
		t.Errorf("the id of the table that was made again is %q, as before", again)
	}
}
