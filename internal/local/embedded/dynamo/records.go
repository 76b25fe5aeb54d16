package dynamo

import (
	"context"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

const (
	maxRecords     = 1000
	maxRecordBytes = 1024 * 1024

	// maxReread limits how many records stay in memory in the form in which GetRecords returns
	// them: reading a record drops this form of the record that is maxReread before it. If that
	// record is read again, the form is built again. Otherwise a day of a busy stream would fill
	// the memory.
	maxReread = 2 * maxRecords
)

var getRecords = api.Op(streamsService, "GetRecords", "ShardIterator Limit")

// GetRecords reads up to 1,000 records or 1 MB. NextShardIterator is nil once a closed shard has
// been read to its end.
func (c *Streams) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	return api.Call(ctx, c.ts.core, getRecords, in, c.ts.getRecords)
}

func (ts *Service) getRecords(in *dynamodbstreams.GetRecordsInput) (*dynamodbstreams.GetRecordsOutput, error) {
	limit := maxRecords
	if in.Limit != nil {
		if *in.Limit < 1 || *in.Limit > maxRecords {
			return nil,
				api.Invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value "+
					"between 1 and %d", *in.Limit, maxRecords)
		}
		limit = int(*in.Limit)
	}
	it, err := parseIterator(aws.ToString(in.ShardIterator))
	if err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	s, err := ts.stream(&it.arn)
	if err != nil {
		return nil, err
	}
	sh, err := s.byID(it.shard)
	if err != nil {
		return nil, err
	}
	if it.offset < sh.base {
		return nil, trimmed()
	}
	out := &dynamodbstreams.GetRecordsOutput{Records: []types.Record{}}
	bytes := 0
	for i := it.offset - sh.base; i < len(sh.records) && len(out.Records) < limit; i++ {
		r := &sh.records[i]
		if bytes += s.size(r); bytes > maxRecordBytes && len(out.Records) > 0 {
			break
		}
		out.Records = append(out.Records, *s.record(r))
		if i >= maxReread {
			sh.records[i-maxReread].public = nil
		}
		it.offset++
	}
	if sh.isOpen() || it.offset < sh.base+len(sh.records) {
		out.NextShardIterator = aws.String(it.String())
	}
	return out, nil
}

// size returns the SizeBytes of a record: the size of its keys and both images.
func (s *stream) size(r *record) int {
	it := r.new
	if it == nil {
		it = r.old
	}
	keys := 0
	for _, name := range s.t.schema.names() {
		keys += len(name) + value.Size(it.Get(name))
	}
	return keys + value.SizeOf(r.old) + value.SizeOf(r.new)
}

// record returns a change in the form in which it is read. It builds that form once, because many
// readers read the same record.
func (s *stream) record(r *record) *types.Record {
	if r.public == nil {
		r.public = s.publish(r)
	}
	return r.public
}

func (s *stream) publish(r *record) *types.Record {
	it, name := r.new, types.OperationTypeModify
	switch {
	case r.old == nil:
		name = types.OperationTypeInsert
	case r.new == nil:
		it, name = r.old, types.OperationTypeRemove
	}
	keys := make(map[string]types.AttributeValue, 2)
	for _, k := range s.t.schema.names() {
		keys[k] = streamValue(it.Get(k))
	}
	out := &types.Record{
		EventID: aws.String(fmt.Sprintf("%016x%016x", r.id[0], r.id[1])), EventName: name,
		EventVersion: aws.String("1.1"), EventSource: aws.String("aws:dynamodb"), AwsRegion: aws.String(s.region),
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(r.at), Keys: keys,
			NewImage: streamImage(r.new), OldImage: streamImage(r.old),
			SequenceNumber: aws.String(r.seq.String()), SizeBytes: aws.Int64(int64(min(s.size(r), math.MaxInt32))),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}
	if r.by != nil {
		out.UserIdentity = &types.Identity{Type: aws.String(r.by.kind), PrincipalId: aws.String(r.by.principal)}
	}
	return out
}

func streamImage(it *value.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	attrs := it.All()
	m := make(map[string]types.AttributeValue, len(attrs))
	for _, a := range attrs {
		m[a.Name] = streamValue(a.Value)
	}
	return m
}

// streamValue converts a stored value to the type that the Streams package has for it.
func streamValue(v ddb.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *ddb.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *ddb.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *ddb.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: v.Value}
	case *ddb.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *ddb.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *ddb.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: v.Value}
	case *ddb.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: v.Value}
	case *ddb.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: v.Value}
	case *ddb.AttributeValueMemberL:
		out := make([]types.AttributeValue, len(v.Value))
		for i, el := range v.Value {
			out[i] = streamValue(el)
		}
		return &types.AttributeValueMemberL{Value: out}
	case *ddb.AttributeValueMemberM:
		out := make(map[string]types.AttributeValue, len(v.Value))
		for name, el := range v.Value {
			out[name] = streamValue(el)
		}
		return &types.AttributeValueMemberM{Value: out}
	}
	return nil
}
