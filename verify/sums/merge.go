package sums

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	// finer is into how many a hash bucket is divided that does not fit into memory.
	finer = 16
	// mostBuckets keeps the number of a bucket from overflowing. It is never reached by keys whose
	// hashes differ.
	mostBuckets = 1 << 56
)

// merged is what the comparison of one bucket has found. It is a file of the folder.
type merged[F any] struct {
	Job     string `json:"job"` // see jobOf
	Bucket  int    `json:"bucket"`
	Buckets int    `json:"buckets"`
	Found   F      `json:"found"`
}

func mergedPaper(bucket, of int) string { return fmt.Sprintf("merged-%04d-of-%04d.result", bucket, of) }

// jobOf names a job and the files of its segments. A merge of an earlier pass has other files.
func (p *Pass[S, F]) jobOf(segments []*manifest[S]) string {
	h := sha256.New()
	h.Write(p.id[:])
	for _, m := range segments {
		fmt.Fprint(h, m.Began, m.Files)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// merged returns what a merge of this job has found, or nil.
func (p *Pass[S, F]) merged(ctx context.Context, bucket int, job string) (*merged[F], error) {
	m := &merged[F]{}
	there, err := FetchJSON(ctx, p.Work, mergedPaper(bucket, p.Buckets), kindResult, m)
	if err != nil || !there || m.Job != job {
		return nil, err
	}
	return m, nil
}

// merge adds up all files of one bucket, and compares every key in it.
func (p *Pass[S, F]) merge(ctx context.Context, files []sumFile, bucket int) (*F, error) {
	found := new(F)
	m := merger{p.job.Ops, p.Memory, func(one *Pair) error { return p.job.Compare(found, one) }}
	return found, m.each(ctx, p.folder, files, bucket, p.Buckets)
}

// merger adds up the files of buckets.
type merger struct {
	ops    opsOf
	memory int // bytes of sums
	do     func(*Pair) error
}

// each adds up all files of one bucket, and calls do for every key in it. If the keys do not fit
// into memory, it divides them into the files of finer buckets, and goes on with these one by one.
func (m *merger) each(ctx context.Context, in Folder, files []sumFile, bucket, buckets int) (err error) {
	all := NewSet()
	var parts []sumFile
	var folder scratch
	divide := func() (err error) {
		if folder.Dir == "" {
			if folder, err = newScratch(); err != nil {
				return err
			}
		}
		number := len(parts)
		more, err := all.flush(ctx, folder, buckets*finer, func(bucket int) string { return fmt.Sprintf("sums-%06d-%d", number, bucket) })
		parts = append(parts, more...)
		return err
	}
	defer func() { err = errors.Join(err, folder.remove()) }()
	for _, file := range files {
		if file.Bucket != bucket {
			continue
		}
		err := m.ops.read(ctx, in, file, func(one *Pair) error {
			all.add(one)
			if all.bytes > m.memory && len(all.of) > 1 && buckets < mostBuckets {
				return divide()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		return all.each(ctx, m.do)
	}
	if err := divide(); err != nil {
		return err
	}
	for i := range finer {
		if err := m.each(ctx, folder, parts, bucket*finer+i, buckets*finer); err != nil {
			return err
		}
	}
	return nil
}
