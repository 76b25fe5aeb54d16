package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/tables"
)

// Top returns the n totals of an aggregate with the greatest values in one list, the greatest
// first. within has the values of by that the rank is within: its totals alone are in the list. It
// is nil if the rank is of all totals. The values are those that [Reader.Total] takes, and
// [pipeline.Pipeline.By] computes them. at is any instant in the window. It is ignored for an
// aggregate without windows. The aggregate must declare rank in pipeline.yaml. n is from 1 to
// 1,000.
//
// A total whose events have all been taken back is left out: its N is 0.
//
// An index decides which totals are returned. It is behind the totals, usually by less than a
// second. Each total is then read consistently, and they are sorted by what was read. If values are
// equal, any of these totals may come first, and any may be left out as number n+1.
//
// If the generation has a flag, or if it is building, the totals say so, as those of [Reader.Total]
// do. If nothing is stored, Top returns what [Reader.Total] returns then.
func (s *Reader) Top(ctx context.Context, name string, within map[string]string, at time.Time, n int) ([]Total, error) {
	if n < 1 || n > maxTop {
		return nil, fmt.Errorf("top of %s: %d totals were asked for; ask for 1 to %d", name, n, maxTop)
	}
	var list []Total
	for total, err := range s.ranking(ctx, name, within, at, min(n, pageOfRanks)) {
		if err != nil {
			return nil, err
		}
		if list = append(list, total); len(list) == n {
			break
		}
	}
	def, _ := s.heads.Pipeline.Definition(name)
	slices.SortStableFunc(list, func(a, b Total) int { return b.Values[def.Rank.Value].Cmp(a.Values[def.Rank.Value]) })
	return list, nil
}

// maxTop bounds what [Reader.Top] holds in memory.
const maxTop = 1000

// Ranking yields all totals of an aggregate in one list, as [Reader.Top] reads them. Other
// functions may change totals while they are read: a total that moves down may be left out, and one
// that moves up may come at its old place. No total comes twice. The order is that of the index.
// After an error nothing follows.
func (s *Reader) Ranking(ctx context.Context, name string, within map[string]string, at time.Time) iter.Seq2[Total, error] {
	return s.ranking(ctx, name, within, at, pageOfRanks)
}

// ranking reads page totals at once.
func (s *Reader) ranking(ctx context.Context, name string, within map[string]string, at time.Time, page int) iter.Seq2[Total, error] {
	return func(yield func(Total, error) bool) {
		def, head, values, err := s.rankedBy(ctx, name, within)
		if err != nil {
			yield(Total{}, fmt.Errorf("ranking of %s: %w", name, err))
			return
		}
		r := &ranking{store: s, page: page, seen: map[event.Key]bool{}}
		window := lanes.WindowText(lanes.WindowStart(def, at))
		for shard := range def.Rank.Shards {
			r.shards = append(r.shards, &rankShard{partition: lanes.RankPartition(def, window, shard, values)})
		}
		any := false
		for {
			stored, err := r.next(ctx)
			if err != nil {
				yield(Total{}, fmt.Errorf("ranking of %s: %w", name, err))
				return
			}
			if stored == nil {
				break
			}
			for _, one := range stored {
				t := gather(def, head, []tables.StoredTotal{one})[0]
				t.By = lanes.Group(def, one.Address.By)
				if any = true; !yield(t, nil) {
					return
				}
			}
		}
		if missing := missing(def, head); !any && len(missing) > 0 {
			if len(within) > 0 {
				missing[0].By = maps.Clone(within)
			}
			yield(missing[0], nil)
		}
	}
}

// rankedBy returns the definition of a ranked aggregate, its head, and the values of within as keys
// have them.
func (s *Reader) rankedBy(ctx context.Context, name string, within map[string]string) (*aggregate.Definition, *tables.Head, []string,
	error) {
	def, ok := s.heads.Pipeline.Definition(name)
	switch {
	case !ok:
		return nil, nil, nil, errors.New("the pipeline has no aggregate of this name")
	case def.Rank.Value == "":
		return nil, nil, nil, fmt.Errorf("it declares no rank, so its totals are in no order, and to list them would need a Scan; write "+
			"rank: {value: %s} in its declaration, under a new since", firstNumber(def))
	case def.Rank.Within == nil && len(within) > 0:
		return nil, nil, nil, errors.New("its rank is of all totals, and no values choose among them; leave them out")
	}
	values, err := escapedBy(def, def.Rank.Within, within)
	if err == nil {
		err = s.heads.Pipeline.CheckBy(name, within)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	head, err := s.heads.Head(ctx, def)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := readable(def, head); err != nil {
		return nil, nil, nil, fmt.Errorf("refused, because %w", err)
	}
	def, head, err = s.standing(ctx, def, head)
	return def, head, values, err
}

// firstNumber returns the name of a value that totals can be ranked by.
func firstNumber(def *aggregate.Definition) string {
	for _, v := range def.Values {
		if !v.Op.Textual() {
			return v.Name
		}
	}
	return "VALUE"
}

// ranking merges the shards of one list, the greatest score first.
type ranking struct {
	store  *Reader
	page   int
	shards []*rankShard
	seen   map[event.Key]bool // what has been yielded, because an entry that moves may be met twice
}

// rankShard is one partition of the index, read page by page.
type rankShard struct {
	partition string
	entries   []entry
	from      rows.Image // where the next page begins
	ended     bool
}

// entry is what the index holds of one total.
type entry struct {
	key   event.Key
	score event.Decimal
}

// pageOfRanks is how many entries of each shard are read at once, and how many totals.
const pageOfRanks = 100

// next returns the next totals, at least one of them. It returns nil after the last.
func (r *ranking) next(ctx context.Context) ([]tables.StoredTotal, error) {
	for {
		keys, err := r.keys(ctx)
		if err != nil || len(keys) == 0 {
			return nil, err
		}
		totals, err := r.store.totalsAt(ctx, keys)
		if err != nil || len(totals) > 0 {
			return totals, err
		}
	}
}

// keys returns the keys of up to a page of totals, in the order of the index. All shards are filled
// first, because any of them may hold the greatest score.
func (r *ranking) keys(ctx context.Context) ([]event.Key, error) {
	var keys []event.Key
	for len(keys) < r.page {
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
		var best *rankShard
		for _, s := range r.shards {
			if len(s.entries) > 0 && (best == nil || s.entries[0].order(best.entries[0]) < 0) {
				best = s
			}
		}
		if best == nil {
			break
		}
		key := best.entries[0].key
		best.entries = best.entries[1:]
		if !r.seen[key] {
			r.seen[key] = true
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// order puts the greater score first.
func (e entry) order(other entry) int { return other.score.Cmp(e.score) }

// fill reads the next page of every shard that has none and has not ended.
func (r *ranking) fill(ctx context.Context) error {
	var empty []*rankShard
	for _, s := range r.shards {
		if len(s.entries) == 0 && !s.ended {
			empty = append(empty, s)
		}
	}
	errs := make([]error, len(empty))
	r.store.heads.Env.Each(len(empty), max(r.store.heads.Parallel(), 8), func(i int) { errs[i] = r.store.readShard(ctx, empty[i], r.page) })
	return errors.Join(errs...)
}

// rankQuery returns the request for a page of one partition of the index.
func (s *Reader) rankQuery(partition string, page int) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: &s.heads.Aggregates, IndexName: aws.String(lanes.RankIndex), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: aws.String("#rank = :in"), ExpressionAttributeNames: map[string]string{"#rank": lanes.RankAttribute},
		ExpressionAttributeValues: rows.Image{":in": rows.Text(partition)}, Limit: aws.Int32(int32(page))}
}

// readShard reads pages of one shard until one of them has an entry.
func (s *Reader) readShard(ctx context.Context, shard *rankShard, page int) error {
	in := s.rankQuery(shard.partition, page)
	in.ExclusiveStartKey = shard.from
	for len(shard.entries) == 0 && !shard.ended {
		out, err := rows.Asked(ctx, s.heads, s.heads.Client.Query, in)
		if err != nil {
			return err
		}
		for _, img := range out.Items {
			score, err := event.ParseDecimal(rows.NumberOf(img[lanes.ScoreAttribute]))
			if err == nil {
				shard.entries = append(shard.entries, entry{rows.KeyOf(img), score})
			}
		}
		shard.from, in.ExclusiveStartKey = out.LastEvaluatedKey, out.LastEvaluatedKey
		shard.ended = len(out.LastEvaluatedKey) == 0
	}
	return nil
}

// totalsAt reads totals consistently, and returns those that count something and have not expired,
// in the order of their keys in the argument.
func (s *Reader) totalsAt(ctx context.Context, keys []event.Key) ([]tables.StoredTotal, error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, key := range keys {
		request.Keys = append(request.Keys, rows.KeyImage(key))
	}
	found := map[event.Key]tables.StoredTotal{}
	now := s.heads.Env.Now().Unix()
	err := s.heads.ReadKeys(ctx, s.heads.Aggregates, request, "", func(out *dynamodb.BatchGetItemOutput) {
		for _, img := range out.Responses[s.heads.Aggregates] {
			if t, ok := walk.ReadTotal(img); ok && t.N != 0 && (t.ExpiresAt == 0 || now < t.ExpiresAt) {
				found[rows.KeyOf(img)] = t
			}
		}
	})
	if err != nil {
		return nil, err
	}
	totals := make([]tables.StoredTotal, 0, len(found))
	for _, key := range keys {
		if t, there := found[key]; there {
			totals = append(totals, t)
		}
	}
	return totals, nil
}
