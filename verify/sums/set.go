package sums

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Side says which of the two tables a sum is of.
type Side uint8

const (
	Wanted Side = iota // what should be
	Stored             // what is compared with it
)

// Sum is a part of one side of one key. The parts of a side add up to the whole, in any order and
// any grouping.
type Sum struct {
	N       int64
	FP, FPX event.Decimal
	Values  []aggregate.Amount // one for each operation of the pair
	Notes   []string
	Flagged bool
}

// NewSum returns a sum of nothing, for a pair with these operations.
func NewSum(ops []aggregate.Op) *Sum { return &Sum{Values: make([]aggregate.Amount, len(ops))} }

// Add adds another part of the same side of the same key.
func (s *Sum) Add(ops []aggregate.Op, other *Sum) {
	s.N += other.N
	s.FP, s.FPX = s.FP.Add(other.FP), s.FPX.Add(other.FPX)
	s.Notes, s.Flagged = append(s.Notes, other.Notes...), s.Flagged || other.Flagged
	for i, v := range other.Values {
		s.Fold(ops, i, v)
	}
}

// Fold adds an amount to one of the values.
func (s *Sum) Fold(ops []aggregate.Op, i int, a aggregate.Amount) {
	s.Values[i] = lanes.Merge(ops[i], s.Values[i], a)
}

// Text returns a value as text. It is 0, or an empty text, if nothing was added to it.
func (s *Sum) Text(ops []aggregate.Op, i int) string {
	if ops[i].Textual() {
		return s.Values[i].Text
	}
	return s.Values[i].Number.String()
}

// Pair has what was added up of both sides of a key. A side is nil if there is nothing of it.
type Pair struct {
	Key   string
	Ops   []aggregate.Op // of the values of both sides
	Sides [2]*Sum
}

// bytes estimates the memory that a pair takes in [Set].
func (p *Pair) bytes() int {
	n := 120 + len(p.Key)
	for _, one := range p.Sides {
		if one == nil {
			continue
		}
		n += 200 + 80*len(one.Values)
		for i := range one.Values {
			n += len(one.Values[i].Text)
		}
		for _, note := range one.Notes {
			n += len(note) + 16
		}
	}
	return n
}

// Set holds pairs of many keys in memory.
type Set struct {
	of      map[string]*Pair
	scratch []byte
	bytes   int // an estimate of the memory that they take
}

// NewSet returns sums of no key.
func NewSet() *Set { return &Set{of: map[string]*Pair{}} }

// Get returns the pair of a key, or nil.
func (s *Set) Get(key string) *Pair { return s.of[key] }

// Side lets add change one side of a key, which may be new. key appends the key to a slice, and ops
// are those of its values.
func (s *Set) Side(side Side, ops []aggregate.Op, key func([]byte) []byte, add func(*Sum)) {
	s.scratch = key(s.scratch[:0])
	one := s.of[string(s.scratch)]
	if one == nil {
		one = &Pair{Key: string(s.scratch), Ops: ops}
		s.of[one.Key] = one
	} else {
		s.bytes -= one.bytes()
	}
	if one.Sides[side] == nil {
		one.Sides[side] = NewSum(ops)
	}
	add(one.Sides[side])
	s.bytes += one.bytes()
}

// add adds other parts of a key. They must not be used afterwards.
func (s *Set) add(other *Pair) {
	one := s.of[other.Key]
	if one == nil {
		s.of[other.Key] = other
		s.bytes += other.bytes()
		return
	}
	s.bytes -= one.bytes()
	for side, part := range other.Sides {
		switch has := one.Sides[side]; {
		case has == nil:
			one.Sides[side] = part
		case part != nil:
			has.Add(one.Ops, part)
		}
	}
	s.bytes += one.bytes()
}

// each calls do for every key, in order.
func (s *Set) each(ctx context.Context, do func(*Pair) error) error {
	for _, key := range slices.Sorted(maps.Keys(s.of)) {
		if err := do(s.of[key]); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// bucketOf returns the hash bucket of a key. Each bucket is a range of hashes, so if there are n
// times as many buckets, bucket b is divided into the buckets from n×b on.
func bucketOf(key string, buckets int) int {
	bucket, _ := bits.Mul64(HashOf(key), uint64(buckets))
	return int(bucket)
}

// HashOf spreads keys evenly. It is the first 8 bytes of the SHA-256.
func HashOf(key string) uint64 {
	digest := sha256.Sum256([]byte(key))
	return binary.BigEndian.Uint64(digest[:8])
}

// sumFile names a file of sums in a folder.
type sumFile struct {
	Name   string `json:"name"`
	Bucket int    `json:"bucket"`
	Sum    string `json:"sum"` // its checksum in hex
}

// flush moves all sums into files of a folder, one for each bucket that has any.
func (s *Set) flush(ctx context.Context, to Folder, buckets int, name func(bucket int) string) (files []sumFile, err error) {
	parts := map[int][]*Pair{}
	for key, one := range s.of {
		bucket := bucketOf(key, buckets)
		parts[bucket] = append(parts[bucket], one)
	}
	for _, bucket := range slices.Sorted(maps.Keys(parts)) {
		var body bytes.Buffer
		e := gob.NewEncoder(&body)
		for _, one := range parts[bucket] {
			if err := e.Encode(one.line()); err != nil {
				return nil, err
			}
		}
		file := sumFile{Name: name(bucket), Bucket: bucket}
		if file.Sum, err = keep(ctx, to, file.Name, kindSums, body.Bytes()); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	*s = *NewSet()
	return files, nil
}

// opsOf returns the operations of the values of a key. The error says that the key does not belong
// here.
type opsOf func(key string) ([]aggregate.Op, error)

// read calls do for each pair in a file of sums.
func (of opsOf) read(ctx context.Context, in Folder, file sumFile, do func(*Pair) error) error {
	body, sum, err := fetch(ctx, in, file.Name, kindSums)
	if missingFile(err) {
		return fmt.Errorf("%s is gone from %s, and its sums with it; begin again in an empty folder", file.Name, in)
	}
	if err == nil && sum != file.Sum {
		err = unusable(in, file.Name, &errDamaged{"its checksum is not the one that its manifest names"})
	}
	if err != nil {
		return err
	}
	for d := gob.NewDecoder(bytes.NewReader(body)); ; {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return unusable(in, file.Name, &errDamaged{err.Error()})
		}
		one, err := l.pair(of)
		if err != nil {
			return unusable(in, file.Name, &errDamaged{err.Error()})
		}
		if err := do(one); err != nil {
			return err
		}
	}
}

// line is a pair in a file of sums, which is a stream of them in the encoding of [encoding/gob].
// Numbers are decimal text.
type line struct {
	Key            string
	Wanted, Stored *part
}

// part is a sum in a file.
type part struct {
	N       int64
	FP, FPX string
	Values  []value
	Notes   []string
	Flagged bool
}

// value is a number, or a text if the operation is textual.
type value struct {
	Set  bool
	Text string
}

func (p *Pair) line() line {
	return line{p.Key, p.Sides[Wanted].part(p.Ops), p.Sides[Stored].part(p.Ops)}
}

func (s *Sum) part(ops []aggregate.Op) *part {
	if s == nil {
		return nil
	}
	p := &part{s.N, s.FP.String(), s.FPX.String(), make([]value, len(s.Values)), s.Notes, s.Flagged}
	for i, v := range s.Values {
		p.Values[i] = value{v.Set, s.Text(ops, i)}
	}
	return p
}

func (l *line) pair(of opsOf) (*Pair, error) {
	ops, err := of(l.Key)
	if err != nil {
		return nil, err
	}
	one := &Pair{Key: l.Key, Ops: ops}
	for side, part := range [2]*part{Wanted: l.Wanted, Stored: l.Stored} {
		if part == nil {
			continue
		}
		if one.Sides[side], err = part.sum(ops); err != nil {
			return nil, fmt.Errorf("%q: %w", l.Key, err)
		}
	}
	return one, nil
}

func (p *part) sum(ops []aggregate.Op) (*Sum, error) {
	if len(p.Values) != len(ops) {
		return nil, fmt.Errorf("it has %d values, and its definition %d", len(p.Values), len(ops))
	}
	s := NewSum(ops)
	s.N, s.Notes, s.Flagged = p.N, p.Notes, p.Flagged
	var errs [3]error
	s.FP, errs[0] = event.ParseDecimal(p.FP)
	s.FPX, errs[1] = event.ParseDecimal(p.FPX)
	for i, v := range p.Values {
		s.Values[i].Set = v.Set
		if ops[i].Textual() {
			s.Values[i].Text = v.Text
		} else if s.Values[i].Number, errs[2] = event.ParseDecimal(v.Text); errs[2] != nil {
			break
		}
	}
	return s, errors.Join(errs[:]...)
}
