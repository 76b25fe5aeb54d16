package verify

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
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// pair has what was added up of both sides of a total. A side is nil if there is nothing of it.
type pair struct {
	def   *aggregate.Definition
	key   string
	sides [2]*sum
}

// bytes estimates the memory that a pair takes in [sums].
func (p *pair) bytes() int {
	n := 120 + len(p.key)
	for _, one := range p.sides {
		if one == nil {
			continue
		}
		n += 200 + 80*len(one.values)
		for i := range one.values {
			n += len(one.values[i].Text)
		}
		for _, flag := range one.flags {
			n += len(flag) + 16
		}
	}
	return n
}

// sums holds pairs of many totals in memory, by their keys.
type sums struct {
	of      map[string]*pair
	scratch []byte
	bytes   int // an estimate of the memory that they take
}

func newSums() *sums { return &sums{of: map[string]*pair{}} }

// side lets add change one side of a total, which may be new.
func (s *sums) side(which side, def *aggregate.Definition, window int64, by []string, add func(*sum)) {
	s.scratch = appendKey(s.scratch[:0], def.Name, def.Since, window, by)
	one := s.of[string(s.scratch)]
	if one == nil {
		one = &pair{def: def, key: string(s.scratch)}
		s.of[one.key] = one
	} else {
		s.bytes -= one.bytes()
	}
	if one.sides[which] == nil {
		one.sides[which] = newSum(def)
	}
	add(one.sides[which])
	s.bytes += one.bytes()
}

func (s *sums) contribution(c *aggregate.Contribution) {
	s.side(wanted, c.Def, c.Window, c.By, func(one *sum) { one.contribution(c) })
}

func (s *sums) bucket(def *aggregate.Definition, t *tables.StoredTotal) {
	s.side(stored, def, t.Address.Window, t.Address.By, func(one *sum) { one.bucket(def, t) })
}

// add adds other parts of a total. They must not be used afterwards.
func (s *sums) add(other *pair) {
	one := s.of[other.key]
	if one == nil {
		s.of[other.key] = other
		s.bytes += other.bytes()
		return
	}
	s.bytes -= one.bytes()
	for which, part := range other.sides {
		switch has := one.sides[which]; {
		case has == nil:
			one.sides[which] = part
		case part != nil:
			has.add(one.def, part)
		}
	}
	s.bytes += one.bytes()
}

// each calls do for every total, in the order of the keys.
func (s *sums) each(ctx context.Context, do func(*pair) error) error {
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

// bucketOf returns the hash bucket of a total. Each bucket is a range of hashes, so if there are n
// times as many buckets, bucket b is divided into the buckets from n×b on.
func bucketOf(key string, buckets int) int {
	bucket, _ := bits.Mul64(hashOf(key), uint64(buckets))
	return int(bucket)
}

// hashOf spreads keys evenly. It is the first 8 bytes of the SHA-256.
func hashOf(key string) uint64 {
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
func (s *sums) flush(ctx context.Context, to Folder, buckets int, name func(bucket int) string) (files []sumFile, err error) {
	parts := map[int][]*pair{}
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
		if file.Sum, err = keep(ctx, to, file.Name, "sums", body.Bytes()); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	*s = *newSums()
	return files, nil
}

// read calls do for each total in a file of sums.
func read(ctx context.Context, p *pipeline.Pipeline, in Folder, file sumFile, do func(*pair) error) error {
	body, sum, err := fetch(ctx, in, file.Name, "sums")
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
		one, err := l.pair(p)
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
	Flags   []string
	Flagged bool
}

// value is a number, or a text if the operation is textual.
type value struct {
	Set  bool
	Text string
}

func (p *pair) line() line {
	return line{p.key, p.sides[wanted].part(p.def), p.sides[stored].part(p.def)}
}

func (s *sum) part(def *aggregate.Definition) *part {
	if s == nil {
		return nil
	}
	p := &part{s.n, s.fp.String(), s.fpx.String(), make([]value, len(s.values)), s.flags, s.flagged}
	for i, v := range s.values {
		p.Values[i] = value{v.Set, s.value(opOf(def, i), i)}
	}
	return p
}

func (l *line) pair(p *pipeline.Pipeline) (*pair, error) {
	t, err := parseKey(p, l.Key)
	if err != nil {
		return nil, err
	}
	one := &pair{def: t.def, key: l.Key}
	for which, part := range [2]*part{wanted: l.Wanted, stored: l.Stored} {
		if part == nil {
			continue
		}
		if one.sides[which], err = part.sum(t.def); err != nil {
			return nil, fmt.Errorf("%q: %w", l.Key, err)
		}
	}
	return one, nil
}

func (p *part) sum(def *aggregate.Definition) (*sum, error) {
	if len(p.Values) != columns(def) {
		return nil, fmt.Errorf("it has %d values, and its definition %d", len(p.Values), columns(def))
	}
	s := newSum(def)
	s.n, s.flags, s.flagged = p.N, p.Flags, p.Flagged
	var errs [3]error
	s.fp, errs[0] = event.ParseDecimal(p.FP)
	s.fpx, errs[1] = event.ParseDecimal(p.FPX)
	for i, v := range p.Values {
		s.values[i].Set = v.Set
		if opOf(def, i).Textual() {
			s.values[i].Text = v.Text
		} else if s.values[i].Number, errs[2] = event.ParseDecimal(v.Text); errs[2] != nil {
			break
		}
	}
	return s, errors.Join(errs[:]...)
}
