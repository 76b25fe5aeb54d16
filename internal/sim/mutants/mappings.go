package main

// mappings are event source mappings that Lambda offers too, and under which marks are unsound.
func mappings() []Mutant {
	return []Mutant{
		{
			Name: "parallel-lanes", What: "a mapping with ParallelizationFactor 2 that names the shard", Checks: counting,
			Patches: []Patch{
				{"internal/lambda/esm/shard.go", `	id, parent string
`, `	id, parent string
	lane       uint32
`},
				{"internal/lambda/esm/shard.go", `			sh.ahead = append(sh.ahead, change`, `			if laneOf(r.Dynamodb.Keys) != sh.lane {
				continue
			}
			sh.ahead = append(sh.ahead, change`},
				{"internal/lambda/esm/shard.go", `// rewind forgets`, `const second = "-second"

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

// rewind forgets`},
				{"internal/lambda/esm/shard.go", `	"fmt"
`, `	"fmt"
	"hash/fnv"
	"strings"
`},
				{"internal/lambda/esm/stream.go", `		sh := s.shards[id]
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
				{"internal/lambda/esm/stream.go", `		if _, ok := listed[id]; ok {
`, `		if _, ok := listed[sh.id]; ok {
`},
				{"internal/lambda/esm/checkpoint.go", `		s.shards[id] = &shard{id: id, at: at.clone()}
`, `		s.shards[id] = laneShard(id)
		s.shards[id].at = at.clone()
`},
			},
		},
		{
			Name: "discard-then-replay", What: "a mapping that gives a batch up after its retries; a person replays it later", Checks: counting,
			Patches: []Patch{{"internal/lambda/esm/stream.go", `		cfg.BatchSize = 100
	}
`, `		cfg.BatchSize = 100
	}
	cfg.MaxRetries = 1
`}},
		},
		{
			Name: "second-at-latest", What: "a second mapping that begins at LATEST while the first lags", Checks: counting,
			Patches: []Patch{
				{"internal/lambda/esm/shard.go", `	id, parent string
`, `	id, parent string
	latest     bool // begins with what comes after now
`},
				{"internal/lambda/esm/shard.go", `	after := sh.at.After
`, `	if sh.latest {
		sh.latest = false
		if err := s.skip(ctx, sh); err != nil {
			return 0, err
		}
	}
	after := sh.at.After
`},
				{"internal/lambda/esm/shard.go", `// iterate takes an iterator`, `func (s *Stream) skip(ctx context.Context, sh *shard) error {
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

// iterate takes an iterator`},
				{"internal/lambda/esm/stream.go", `	describedAt time.Time
`, `	describedAt time.Time
	began       bool
`},
				{"internal/lambda/esm/stream.go", `			sh = &shard{id: id}
			s.shards[id] = sh
`, `			sh = &shard{id: id, latest: !s.began}
			s.shards[id] = sh
`},
				{"internal/lambda/esm/stream.go", `	s.described, s.describedAt = true, now
`, `	s.described, s.describedAt, s.began = true, now, true
`},
			},
		},
	}
}
