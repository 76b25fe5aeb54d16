package main

// mappings returns event source mappings that Lambda also offers, but under which marks are
// unsound.
func mappings() []Mutant {
	return []Mutant{
		{
			Name: "second-at-latest", What: "a second mapping that begins at LATEST while the first lags", Defends: "P7 I2",
			Checks: counting,
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
