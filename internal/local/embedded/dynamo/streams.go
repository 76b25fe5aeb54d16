package dynamo

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Streams has the method signatures of *dynamodbstreams.Client.
//
// Shard iterators do not expire. The user of the engine moves its clock, often by days at once. An
// iterator over records that are gone gets a TrimmedDataAccessException anyway.
type Streams struct{ ts *Service }

// Streams returns the client of the tables' streams.
func (ts *Service) Streams() *Streams { return &Streams{ts} }

const streamsService = "DynamoDB Streams"

var (
	listStreams      = api.Op(streamsService, "ListStreams", "TableName Limit ExclusiveStartStreamArn")
	describeStream   = api.Op(streamsService, "DescribeStream", "StreamArn ExclusiveStartShardId Limit")
	getShardIterator = api.Op(streamsService, "GetShardIterator", "StreamArn ShardId ShardIteratorType SequenceNumber")
)

// ListStreams lists the streams of one table or of all tables, by ARN.
func (c *Streams) ListStreams(ctx context.Context, in *dynamodbstreams.ListStreamsInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.ListStreamsOutput, error) {
	return api.Call(ctx, c.ts.core, listStreams, in, c.ts.listStreams)
}

// DescribeStream lists the shards of a stream, parents before children.
func (c *Streams) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	return api.Call(ctx, c.ts.core, describeStream, in, c.ts.describeStream)
}

// GetShardIterator returns a place in a shard to read from.
func (c *Streams) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return api.Call(ctx, c.ts.core, getShardIterator, in, c.ts.getShardIterator)
}

const maxListed = 100

func pageLimit(limit *int32) (int, error) {
	if limit == nil {
		return maxListed, nil
	}
	if *limit < 1 {
		return 0, api.Invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value "+
			"greater than or equal to 1", *limit)
	}
	return min(int(*limit), maxListed), nil
}

func (ts *Service) listStreams(in *dynamodbstreams.ListStreamsInput) (*dynamodbstreams.ListStreamsOutput, error) {
	limit, err := pageLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	out := &dynamodbstreams.ListStreamsOutput{Streams: []types.Stream{}}
	for _, arn := range slices.Sorted(maps.Keys(ts.streams)) {
		s := ts.streams[arn]
		if arn <= aws.ToString(in.ExclusiveStartStreamArn) || (in.TableName != nil && *in.TableName != s.t.name) {
			continue
		}
		if len(out.Streams) == limit {
			out.LastEvaluatedStreamArn = out.Streams[limit-1].StreamArn
			break
		}
		out.Streams = append(out.Streams, types.Stream{StreamArn: aws.String(arn), StreamLabel: aws.String(s.label),
			TableName: aws.String(s.t.name)})
	}
	return out, nil
}

// stream finds a stream and brings its shards up to date. The caller must hold the lock for
// writing.
func (ts *Service) stream(arn *string) (*stream, error) {
	s := ts.streams[aws.ToString(arn)]
	if s == nil {
		return nil,
			&types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Stream: " + aws.ToString(arn) +
				" not found")}
	}
	s.age(ts.core.Now())
	return s, nil
}

func (ts *Service) describeStream(in *dynamodbstreams.DescribeStreamInput) (*dynamodbstreams.DescribeStreamOutput, error) {
	limit, err := pageLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	s, err := ts.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	d := &types.StreamDescription{
		StreamArn: aws.String(s.arn), StreamLabel: aws.String(s.label), TableName: aws.String(s.t.name),
		StreamStatus: types.StreamStatusEnabled, StreamViewType: types.StreamViewTypeNewAndOldImages,
		CreationRequestDateTime: aws.Time(s.created), KeySchema: s.keySchema(), Shards: []types.Shard{},
	}
	if s.disabled {
		d.StreamStatus = types.StreamStatusDisabled
	}
	from := 0
	if in.ExclusiveStartShardId != nil {
		from = 1 + slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.id == *in.ExclusiveStartShardId })
	}
	for _, sh := range s.shards[from:] {
		if len(d.Shards) == limit {
			d.LastEvaluatedShardId = d.Shards[limit-1].ShardId
			break
		}
		d.Shards = append(d.Shards, sh.description())
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: d}, nil
}

func (s *stream) keySchema() []types.KeySchemaElement {
	out := []types.KeySchemaElement{{AttributeName: aws.String(s.t.schema.pk), KeyType: types.KeyTypeHash}}
	if s.t.schema.sk != "" {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(s.t.schema.sk), KeyType: types.KeyTypeRange})
	}
	return out
}

func (sh *shard) description() types.Shard {
	d := types.Shard{ShardId: aws.String(sh.id),
		SequenceNumberRange: &types.SequenceNumberRange{StartingSequenceNumber: aws.String(sh.first.String())}}
	if sh.parent != "" {
		d.ParentShardId = aws.String(sh.parent)
	}
	if !sh.isOpen() {
		d.SequenceNumberRange.EndingSequenceNumber = aws.String(sh.last.String())
	}
	return d
}

func (s *stream) byID(id string) (*shard, error) {
	for _, sh := range s.shards {
		if sh.id == id {
			return sh, nil
		}
	}
	return nil,
		&types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Shard: " + id + " not found in stream " +
			s.arn)}
}

func (ts *Service) getShardIterator(in *dynamodbstreams.GetShardIteratorInput) (*dynamodbstreams.GetShardIteratorOutput, error) {
	ts.mu.Lock()
	defer ts.unlock()
	s, err := ts.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	sh, err := s.byID(aws.ToString(in.ShardId))
	if err != nil {
		return nil, err
	}
	at, err := sh.offset(in)
	if err != nil {
		return nil, err
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(iterator{s.arn, sh.id, at}.String())}, nil
}

// offset returns the ordinal of the first record to read. Ordinals also count the records that are
// gone.
func (sh *shard) offset(in *dynamodbstreams.GetShardIteratorInput) (int, error) {
	switch in.ShardIteratorType {
	case types.ShardIteratorTypeTrimHorizon:
		return sh.base, nil
	case types.ShardIteratorTypeLatest:
		return sh.base + len(sh.records), nil
	case types.ShardIteratorTypeAtSequenceNumber, types.ShardIteratorTypeAfterSequenceNumber:
	default:
		return 0, api.Invalid("1 validation error detected: Value '%s' at 'shardIteratorType' failed to satisfy constraint: Member must "+
			"satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]", in.ShardIteratorType)
	}
	seq, ok := parseSequence(aws.ToString(in.SequenceNumber))
	if !ok {
		return 0, api.Invalid("Invalid SequenceNumber: %q is not 21 to 40 decimal digits", aws.ToString(in.SequenceNumber))
	}
	after := in.ShardIteratorType == types.ShardIteratorTypeAfterSequenceNumber
	// After the last record that is gone, nothing is missing. Before it, something is.
	if c := seq.compare(sh.trimmed); c < 0 || (c == 0 && !after) {
		if sh.base > 0 {
			return 0, trimmed()
		}
	}
	i, found := slices.BinarySearchFunc(sh.records, seq, func(r record, s sequence) int { return r.seq.compare(s) })
	if found && after {
		i++
	}
	return sh.base + i, nil
}

func trimmed() error {
	return &types.TrimmedDataAccessException{Message: aws.String(
		"The operation attempted to read past the oldest stream record in a shard")}
}

// parseSequence reads 21 to 40 digits. A number that the engine never hands out compares as very
// large.
func parseSequence(text string) (sequence, bool) {
	if len(text) < 21 || len(text) > 40 || strings.Trim(text, "0123456789") != "" {
		return sequence{}, false
	}
	text = strings.TrimLeft(text, "0")
	if len(text) <= 12 {
		text = strings.Repeat("0", 13-len(text)) + text
	}
	high, err := strconv.ParseUint(text[:len(text)-12], 10, 64)
	if err != nil {
		return sequence{^uint64(0), lowLimit - 1}, true
	}
	low, err := strconv.ParseUint(text[len(text)-12:], 10, 64)
	return sequence{high, low}, err == nil
}

// iterator is a place in a shard. Its text is opaque to callers.
type iterator struct {
	arn, shard string
	offset     int
}

func (it iterator) String() string { return it.arn + "|" + it.shard + "|" + strconv.Itoa(it.offset) }

func parseIterator(text string) (iterator, error) {
	parts := strings.Split(text, "|")
	if len(parts) == 3 {
		if n, err := strconv.Atoi(parts[2]); err == nil && n >= 0 {
			return iterator{parts[0], parts[1], n}, nil
		}
	}
	return iterator{}, api.Invalid("Invalid ShardIterator")
}
