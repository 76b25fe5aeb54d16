package main

// mappings returns event source mappings that Lambda also offers, but under which marks are
// unsound.
func mappings() []Mutant {
	return []Mutant{
		{
			Name: "parallel-lanes", What: "a mapping with ParallelizationFactor 2 that names the shard", Defends: "C3 I2", Checks: counting, Plain: true,
			Fields: []Field{{"esm.shard", "lane uint32"}},
			Helpers: []Helper{{"esm", `import (
	"hash/fnv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const second = "-second"

func laneOf(keys map[string]types.AttributeValue) uint32 {
	pk, _ := keys["PK"].(*types.AttributeValueMemberS)
	sk, _ := keys["SK"].(*types.AttributeValueMemberS)
	hash := fnv.New32a()
	hash.Write([]byte(pk.Value + "/" + sk.Value))
	return hash.Sum32() >> 16 % 2
}

func laneShard(key string) *shard {
	if id, ok := strings.CutSuffix(key, second); ok {
		return &shard{id: id, lane: 1}
	}
	return &shard{id: key}
}
`}},
			Edits: []Edit{
				{"esm.Stream.fill", `			sh.ahead = append(sh.ahead, change`, `			if laneOf(r.Dynamodb.Keys) != sh.lane {
				continue
			}
			sh.ahead = append(sh.ahead, change`},
				{"esm.Stream.discover", `		sh := s.shards[id]
		if sh == nil {
			sh = &shard{id: id}
			s.shards[id] = sh
		}
		sh.parent = aws.ToString(listing.ParentShardId)
`, `		for _, suffix := range []string{"", second} {
			sh := s.shards[id+suffix]
			if sh == nil {
				sh = laneShard(id + suffix)
				s.shards[id+suffix] = sh
			}
			sh.parent = aws.ToString(listing.ParentShardId) + suffix
		}
`},
				{"esm.Stream.discover", `		if _, ok := listed[id]; ok {
`, `		if _, ok := listed[sh.id]; ok {
`},
				{"esm.Stream.Restore", `		s.shards[id] = &shard{id: id, at: at.clone()}
`, `		s.shards[id] = laneShard(id)
		s.shards[id].at = at.clone()
`},
			},
		},
		{
			Name: "discard-then-replay", What: "a mapping that gives a batch up after its retries; a person replays it later", Defends: "C3 I2", Checks: counting,
			Edits: []Edit{{"esm.NewStream", `		cfg.BatchSize = 100
	}
`, `		cfg.BatchSize = 100
	}
	cfg.MaxRetries = 1
`}},
		},
		{
			Name: "second-at-latest", What: "a second mapping that begins at LATEST while the first lags", Defends: "C3 I2", Checks: counting,
			Fields: []Field{{"esm.shard", "latest bool // begins with what comes after now"}, {"esm.Stream", "began bool"}},
			Helpers: []Helper{{"esm", `import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

func (s *Stream) skip(ctx context.Context, sh *shard) error {
	begin, err := s.cfg.Client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: &s.cfg.ARN, ShardId: &sh.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon})
	if err != nil {
		return err
	}
	for at := begin.ShardIterator; at != nil; {
		out, err := s.cfg.Client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: at, Limit: aws.Int32(1000)})
		if err != nil || len(out.Records) == 0 {
			return err
		}
		sh.at.After = aws.ToString(out.Records[len(out.Records)-1].Dynamodb.SequenceNumber)
		at = out.NextShardIterator
	}
	return nil
}
`}},
			Edits: []Edit{
				{"esm.Stream.iterate", `	after := sh.at.After
`, `	if sh.latest {
		sh.latest = false
		if err := s.skip(ctx, sh); err != nil {
			return 0, err
		}
	}
	after := sh.at.After
`},
				{"esm.Stream.discover", `			sh = &shard{id: id}
			s.shards[id] = sh
`, `			sh = &shard{id: id, latest: !s.began}
			s.shards[id] = sh
`},
				{"esm.Stream.discover", `	s.described, s.describedAt = true, now
`, `	s.described, s.describedAt, s.began = true, now, true
`},
			},
		},
	}
}
