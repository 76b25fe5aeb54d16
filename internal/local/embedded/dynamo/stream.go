package dynamo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// retention is how long a stream keeps a record.
const retention = 24 * time.Hour

// stream is the change log of one table. It is a tree of shards over the hash space of the
// partition keys. Each open shard covers a part of that space. Together they cover all of it.
type stream struct {
	arn, label string
	t          *table
	region     string
	tell       func(shardID string, r types.Record) // may be nil
	rnd        *rand.Rand
	rollAfter  time.Duration // negative: never
	created    time.Time
	disabled   bool
	shards     []*shard // in order of creation, parents before children
	opened     uint64   // how many shards the stream has ever had
	log        *api.Log
}

type shard struct {
	number     uint64 // in order of creation
	id, parent string
	low, high  uint64 // hashes covered, both inclusive
	created    time.Time
	closed     time.Time // zero: open
	first      sequence  // where numbering started: below the first record
	last       sequence  // of the newest record; equals first if there is none
	trimmed    sequence  // of the newest record that is gone; zero if none is gone
	base       int       // how many records are gone
	records    []record
}

// record is one change of one item.
type record struct {
	old, new *value.Item
	at       time.Time
	seq      sequence
	id       [2]uint64
	by       *identity     // nil: an ordinary write
	public   *types.Record // as GetRecords returns it; nil until somebody asks for it
}

type identity struct{ kind, principal string }

// sequence is a number of up to 25 decimal digits: high x 10^12 + low.
type sequence struct{ high, low uint64 }

const lowLimit = 1_000_000_000_000

func (s sequence) String() string {
	low := strconv.FormatUint(lowLimit+s.low, 10) // a 1, then the twelve digits
	return strconv.FormatUint(s.high, 10) + low[1:]
}

func (s sequence) plus(n uint64) sequence {
	s.low += n
	return sequence{s.high + s.low/lowLimit, s.low % lowLimit}
}

func (s sequence) compare(t sequence) int {
	switch {
	case s == t:
		return 0
	case s.high < t.high || (s.high == t.high && s.low < t.low):
		return -1
	}
	return 1
}

func (ts *Service) openStream(t *table) *stream {
	now := ts.core.Now()
	s := &stream{t: t, region: ts.core.Config.Region, tell: ts.cfg.OnRecord, created: now, rollAfter: ts.cfg.RollAfter, log: ts.log}
	// A table may be made again within a millisecond.
	for at := now; s.arn == "" || ts.streams[s.arn] != nil; at = at.Add(time.Millisecond) {
		s.label = at.Format("2006-01-02T15:04:05.000")
		s.arn = t.arn + "/stream/" + s.label
	}
	s.rnd = ts.core.Source(s.arn)
	n := ts.cfg.Partitions
	width := ^uint64(0)/uint64(n) + 1
	if n == 1 {
		width = 0 // the whole space: low 0, high wraps to the maximum
	}
	for i := range n {
		low := uint64(i) * width
		high := low + width - 1
		if i == n-1 {
			high = ^uint64(0)
		}
		s.open(&shard{low: low, high: high, first: s.start(i)}, now)
	}
	ts.streams[s.arn] = s
	s.keepStream()
	return s
}

// start returns where the numbers of a new stream's shards begin. Every second shard begins just
// below a power of ten. So its numbers soon grow by a digit, and text order differs from number
// order.
func (s *stream) start(i int) sequence {
	if i%2 == 0 {
		return sequence{999_999_999, lowLimit - 1 - s.rnd.Uint64N(8*maxStep)} // 21 digits, soon 22
	}
	return sequence{1_405_400_000_000 + s.rnd.Uint64N(1000), s.rnd.Uint64N(lowLimit)} // 25 digits
}

// maxStep bounds the gap between neighbouring sequence numbers.
const maxStep = 1 << 20

func (s *stream) open(sh *shard, now time.Time) {
	sh.id = fmt.Sprintf("shardId-%020d-%08x", now.UnixMilli(), s.rnd.Uint32())
	sh.created, sh.last = now, sh.first
	sh.number = s.opened
	s.opened++
	s.shards = append(s.shards, sh)
	s.keepShard(sh)
}

func (sh *shard) isOpen() bool { return sh.closed.IsZero() }

// append writes a record of a change. If nothing changed, it writes none.
func (s *stream) append(old, new *value.Item, now time.Time, by *identity) {
	if s.disabled || (old == nil && new == nil) || (old != nil && new != nil && old.Equal(new)) {
		return
	}
	it := new
	if it == nil {
		it = old
	}
	sh := s.shard(api.Hash(it.PK))
	if s.due(sh, now) {
		s.age(now)
		sh = s.shard(api.Hash(it.PK))
	}
	s.trim(sh, now)
	sh.last = sh.last.plus(1 + s.rnd.Uint64N(maxStep))
	sh.records = append(sh.records, record{
		old: old, new: new, at: now.Truncate(time.Second), seq: sh.last, id: [2]uint64{s.rnd.Uint64(), s.rnd.Uint64()}, by: by,
	})
	s.keepRecord(sh, len(sh.records)-1, false)
	if s.tell != nil {
		s.tell(sh.id, *s.record(&sh.records[len(sh.records)-1]))
	}
}

// shard returns the open shard that covers a hash.
func (s *stream) shard(hash uint64) *shard {
	for i := len(s.shards) - 1; i >= 0; i-- {
		if sh := s.shards[i]; sh.isOpen() && sh.low <= hash && hash <= sh.high {
			return sh
		}
	}
	panic("embedded: no open shard covers the hash: the shard tree is broken")
}

func (s *stream) due(sh *shard, now time.Time) bool {
	return s.rollAfter > 0 && now.Sub(sh.created) >= s.rollAfter
}

// age rolls shards that are old enough, and drops records and shards that are past retention.
func (s *stream) age(now time.Time) {
	for _, sh := range s.openShards() {
		if !s.disabled && s.due(sh, now) {
			s.roll(sh, now)
		}
	}
	kept := s.shards[:0]
	for _, sh := range s.shards {
		s.trim(sh, now)
		if sh.isOpen() || now.Sub(sh.closed) < retention {
			kept = append(kept, sh)
		} else {
			s.unkeepShard(sh)
		}
	}
	clear(s.shards[len(kept):])
	s.shards = kept
}

func (s *stream) openShards() []*shard {
	var out []*shard
	for _, sh := range s.shards {
		if sh.isOpen() {
			out = append(out, sh)
		}
	}
	return out
}

// roll closes a shard and continues it with one child.
func (s *stream) roll(sh *shard, now time.Time) {
	s.close(sh, now)
	s.open(&shard{parent: sh.id, low: sh.low, high: sh.high, first: s.continuation(sh)}, now)
}

// split closes a shard and continues it with two children.
func (s *stream) split(sh *shard, now time.Time) {
	s.close(sh, now)
	middle := sh.low + (sh.high-sh.low)/2
	s.open(&shard{parent: sh.id, low: sh.low, high: middle, first: s.continuation(sh)}, now)
	s.open(&shard{parent: sh.id, low: middle + 1, high: sh.high, first: s.continuation(sh)}, now)
}

// continuation returns where the numbers of a child begin: above those of its parent, and sometimes
// just below the next power of ten.
func (s *stream) continuation(parent *shard) sequence {
	next := parent.last.plus(1 + s.rnd.Uint64N(maxStep))
	if s.rnd.IntN(2) == 0 {
		return next
	}
	power := uint64(1)
	for power <= next.high {
		power *= 10
	}
	if power >= 10_000_000_000_000 { // 25 digits already
		return next
	}
	edge := sequence{power - 1, lowLimit - 1 - s.rnd.Uint64N(8*maxStep)}
	if edge.compare(next) < 0 {
		return next
	}
	return edge
}

// trim drops the records of a shard that are past retention.
func (s *stream) trim(sh *shard, now time.Time) {
	n := 0
	for n < len(sh.records) && now.Sub(sh.records[n].at) >= retention {
		n++
	}
	if n == 0 {
		return
	}
	for i := range n {
		s.unkeepRecord(sh, i)
	}
	sh.trimmed = sh.records[n-1].seq
	sh.base += n
	clear(sh.records[:n]) // so that their items are freed before the next append moves the rest
	sh.records = sh.records[n:]
	s.keepShard(sh)
}

func (s *stream) disable(now time.Time) {
	s.disabled = true
	for _, sh := range s.openShards() {
		s.close(sh, now)
	}
	s.keepStream()
}

func (s *stream) close(sh *shard, now time.Time) {
	sh.closed = now
	s.keepShard(sh)
}

// RollShards closes every open shard of the table's stream and opens a child of each. The service
// does so every few hours.
func (ts *Service) RollShards(tableName string) error {
	return ts.reshard(tableName, func(s *stream) error {
		for _, sh := range s.openShards() {
			s.roll(sh, ts.core.Now())
		}
		return nil
	})
}

// Forget drops a table with all its items. It writes no stream records for them, and the stream
// stays, as it does in the service. It serves to measure how much memory everything except the
// items takes.
func (ts *Service) Forget(tableName string) error {
	ts.mu.Lock()
	defer ts.unlock()
	t := ts.byName[tableName]
	if t == nil {
		return fmt.Errorf("embedded: Forget: there is no table %s", tableName)
	}
	delete(ts.byName, tableName)
	t.forget()
	t.rows, t.indexes = nil, nil // the stream still knows the table
	return nil
}

// SplitShard closes one open shard of the table's stream and opens two children.
func (ts *Service) SplitShard(tableName, shardID string) error {
	return ts.reshard(tableName, func(s *stream) error {
		for _, sh := range s.openShards() {
			if sh.id == shardID && sh.low < sh.high {
				s.split(sh, ts.core.Now())
				return nil
			}
		}
		return fmt.Errorf("embedded: SplitShard: table %s has no open shard %s that can be split; DescribeStream lists them",
			tableName, shardID)
	})
}

func (ts *Service) reshard(tableName string, do func(*stream) error) error {
	ts.mu.Lock()
	defer ts.unlock()
	t := ts.byName[tableName]
	if t == nil || t.stream == nil {
		return fmt.Errorf("embedded: table %s does not exist or has no stream; create it with a StreamSpecification", tableName)
	}
	return do(t.stream)
}
