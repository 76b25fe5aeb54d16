// Package hot finds the partitions to which DynamoDB has lately refused the most writes for
// capacity, from the logs of the functions, and says what would spread them. A batch that is
// refused names at most five, each by a hash of its key.
package hot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// Logs is what the package needs of CloudWatch Logs.
type Logs interface {
	FilterLogEvents(context.Context, *cloudwatchlogs.FilterLogEventsInput,
		...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error)
}

// Partition is a partition of a table or of an index.
type Partition struct {
	Of    string `json:"of"`              // the event type, or the aggregate, of what was refused
	Index string `json:"index,omitempty"` // empty: the table's own key
	// Hash is the first 16 hex digits of the SHA-256 of the partition key.
	Hash string `json:"partitionHash"`
	// Count is how many writes were refused, as far as the batches have named it.
	Count  int    `json:"count"`
	Remedy string `json:"remedy,omitempty"` // what would help
}

// String returns one line for people.
func (p Partition) String() string {
	where := p.Of
	if p.Index != "" {
		where = p.Index + " of " + p.Of
	}
	text := fmt.Sprintf("%s, partition %s: %s refused", where, p.Hash, show.Count(p.Count, "write"))
	if p.Remedy != "" {
		text += "; " + p.Remedy
	}
	return text
}

const (
	lately = time.Hour
	// mostPages bounds how many answers are read of each log. An answer has at most 1 MB.
	mostPages = 10
	mostShown = 5
)

// Read reads the log groups of the last hour. It returns at most five partitions, the hottest
// first. Without a pipeline there are no remedies.
func Read(ctx context.Context, logs Logs, groups []string, p *pipeline.Pipeline, now time.Time) ([]Partition, error) {
	counts := map[Partition]int{}
	for _, group := range groups {
		in := &cloudwatchlogs.FilterLogEventsInput{LogGroupName: &group, FilterPattern: aws.String(member),
			StartTime: aws.Int64(now.Add(-lately).UnixMilli()), EndTime: aws.Int64(now.UnixMilli())}
		for range mostPages {
			out, err := logs.FilterLogEvents(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("reading the log group %s: %w", group, err)
			}
			for _, line := range out.Events {
				add(counts, aws.ToString(line.Message))
			}
			if in.NextToken = out.NextToken; in.NextToken == nil {
				break
			}
		}
	}
	list := make([]Partition, 0, len(counts))
	for one, n := range counts {
		one.Count = n
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Partition) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Of, b.Of), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Hash, b.Hash))
	})
	list = list[:min(len(list), mostShown)]
	for i := range list {
		list[i].Remedy = remedy(p, list[i])
	}
	return list, nil
}

// member is the member of a line that names hot partitions.
const member = "hotPartitions"

// add adds what one line names. A line of something else is passed over.
func add(counts map[Partition]int, text string) {
	var line struct {
		Hot []Partition `json:"hotPartitions"`
	}
	if json.Unmarshal([]byte(text), &line) != nil {
		return
	}
	for _, one := range line.Hot {
		counts[Partition{Of: one.Of, Index: one.Index, Hash: one.Hash}] += one.Count
	}
}

// These are the limits of pipeline.yaml.
const (
	mostSpread = 1000
	mostShards = 10_000
)

var sharded = regexp.MustCompile(`\| *shard:([0-9]+)`)

// remedy says what would spread the writes of a partition.
func remedy(p *pipeline.Pipeline, hot Partition) string {
	if p == nil {
		return ""
	}
	if def, ok := p.Definition(hot.Of); ok && hot.Index == "" {
		return spread(def)
	}
	spec, ok := p.Describe().Spec.Events[hot.Of]
	switch pk := spec.Indexes[hot.Index].PK; {
	case !ok:
		return ""
	case hot.Index == "":
		return "a partition of " + hot.Of + " takes 1,000 write units a second, and only another key would spread it"
	case pk == "":
		return ""
	default:
		return shards(pk, hot)
	}
}

// spread says what spreads a total.
func spread(def *aggregate.Definition) string {
	switch {
	case def.Bounds != nil:
		return "a total with a " + def.Bounds[0].String() + " is one item: group " + def.Name + " by one more value"
	case def.Rank.Value != "":
		return "a ranked total is one item: group " + def.Name + " by one more value"
	case def.Spread == mostSpread:
		return "it is spread as far as it can be: group " + def.Name + " by one more value"
	}
	return fmt.Sprintf("spread: %d in a new generation of %s (raise epoch and since)", min(2*def.Spread, mostSpread), def.Name)
}

// shards says what divides the partition keys of an index.
func shards(pk string, hot Partition) string {
	m := sharded.FindStringSubmatch(pk)
	if m == nil {
		return fmt.Sprintf("#{@id | shard:8} at the end of the pk of %s of %s, and the old pk in was", hot.Index, hot.Of)
	}
	n, _ := strconv.Atoi(m[1]) // a template that compiles has a number there
	if n == mostShards {
		return ""
	}
	return fmt.Sprintf("shard:%d in place of shard:%d in the pk of %s of %s", min(2*n, mostShards), n, hot.Index, hot.Of)
}
