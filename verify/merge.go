package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

const (
	// finer is into how many a hash bucket is divided that does not fit into memory.
	finer = 16
	// mostBuckets keeps the number of a bucket from overflowing. It is never reached by totals
	// whose hashes differ.
	mostBuckets = 1 << 56
)

// merge adds up all files of one bucket, and compares every total in it.
func (p *pass) merge(ctx context.Context, bucket int, segments []*manifest) (*merged, error) {
	var files []sumFile
	for _, m := range segments {
		files = append(files, m.Files...)
	}
	result := &merged{Job: hex.EncodeToString(p.job[:]), Bucket: bucket, Buckets: p.Buckets}
	return result, p.each(ctx, p.folder, files, bucket, p.Buckets, p.comparing(result))
}

// comparing returns a function that compares a total, and notes in a result what it finds.
func (p *pass) comparing(result *merged) func(*pair) error {
	return func(one *pair) error {
		t, err := parseKey(p.Pipeline, one.key)
		if err != nil {
			return err
		}
		unclosed := p.unclosed[t.def]
		doubtful := result.compare(t, one.key, one.sides[stored], one.sides[wanted], p.Env.Now(), p.uncovered(unclosed, t))
		if doubtful && p.pick != nil {
			p.pick(one.key, t, unclosed)
		}
		return nil
	}
}

// each adds up all files of one bucket, and calls do for every total in it. If the totals do not
// fit into memory, it divides them into the files of finer buckets, and goes on with these one by
// one.
func (p *pass) each(ctx context.Context, in Folder, files []sumFile, bucket, buckets int, do func(*pair) error) (err error) {
	all := newSums()
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
		err := read(ctx, p.Pipeline, in, file, func(one *pair) error {
			all.add(one)
			if all.bytes > p.Memory && len(all.of) > 1 && buckets < mostBuckets {
				return divide()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		return all.each(ctx, do)
	}
	if err := divide(); err != nil {
		return err
	}
	for i := range finer {
		if err := p.each(ctx, folder, parts, bucket*finer+i, buckets*finer, do); err != nil {
			return err
		}
	}
	return nil
}

// Merge adds up what all segments hold of one hash bucket, compares the totals in it, and keeps the
// result in Config.Work for [Collect]. All segments must have been read to their end. bucket is
// below Config.Buckets. The report is about this bucket alone: it does not count items, and says
// nothing about heads.
func Merge(ctx context.Context, c Config, bucket int) (*Report, error) {
	p, err := newPass(c)
	if err != nil {
		return nil, err
	}
	if c.Work == nil {
		return nil, errors.New("verify: a merge needs Config.Work, where the sums of the segments are")
	}
	if err := p.heads(ctx); err != nil {
		return nil, err
	}
	if bucket < 0 || bucket >= p.Buckets {
		return nil, fmt.Errorf("verify: there is no bucket %d of %d; the first is 0 and the last is %d", bucket, p.Buckets, p.Buckets-1)
	}
	segments, err := p.segments(ctx)
	if err != nil {
		return nil, err
	}
	result, err := p.merge(ctx, bucket, segments)
	if err != nil {
		return nil, err
	}
	if err := keepJSON(ctx, c.Work, mergedPaper(bucket, p.Buckets), "result", result); err != nil {
		return nil, err
	}
	r := newReport()
	return r, r.merged(p.Pipeline, result)
}

// segments returns the manifests of all segments, which must have been read to their end.
func (p *pass) segments(ctx context.Context) ([]*manifest, error) {
	all := make([]*manifest, p.Segments)
	for i := range all {
		m := &manifest{}
		there, err := fetchJSON(ctx, p.Work, segmentPaper(i, p.Segments), "segment", m)
		if err != nil {
			return nil, err
		}
		if there {
			err = m.belongs(p)
		}
		switch {
		case err != nil:
			return nil, err
		case m.ended():
			all[i] = m
		default:
			return nil, fmt.Errorf("segment %d of %d is not read to its end yet in %s; "+
				"do ingot verify part segment %d first, with the same flags", i, p.Segments, p.Work, i)
		}
	}
	return all, nil
}

// Collect puts together the findings of all segments and all merges, and reads the heads. It
// returns the report that [Run] would return.
func Collect(ctx context.Context, c Config) (*Report, error) {
	p, err := newPass(c)
	if err != nil {
		return nil, err
	}
	if c.Work == nil {
		return nil, errors.New("verify: a result needs Config.Work, where the results of the merges are")
	}
	segments, err := p.segments(ctx)
	if err != nil {
		return nil, err
	}
	r := newReport()
	for bucket := range p.Buckets {
		result := &merged{}
		there, err := fetchJSON(ctx, c.Work, mergedPaper(bucket, p.Buckets), "result", result)
		if err != nil {
			return nil, err
		}
		if !there || result.Job != hex.EncodeToString(p.job[:]) {
			return nil, fmt.Errorf("bucket %d of %d is not merged yet in %s; do ingot verify part merge %d first, with the same flags",
				bucket, p.Buckets, p.Work, bucket)
		}
		if err := r.merged(p.Pipeline, result); err != nil {
			return nil, err
		}
	}
	return r, p.finish(ctx, r, segments)
}

// finish adds what the segments have seen and what the heads say.
func (p *pass) finish(ctx context.Context, r *Report, segments []*manifest) error {
	var all seen
	for _, m := range segments {
		all.add(&m.Seen)
	}
	r.seen(p.Pipeline, &all)
	for _, def := range p.Pipeline.Definitions() {
		head, err := p.Source.Head(ctx, def)
		if err != nil {
			return err
		}
		if head != nil {
			r.head(def, head, all.Below[lanes.ID(def)])
		}
	}
	r.sort()
	return nil
}

// Ended returns how many segments are read to their end in Config.Work, and how many buckets are
// merged.
func Ended(ctx context.Context, c Config) (segments, buckets int, err error) {
	p, err := newPass(c)
	if err != nil {
		return 0, 0, err
	}
	for i := range p.Segments {
		m := &manifest{}
		if _, err := fetchManifest(ctx, p.Work, i, p.Segments, m); err != nil {
			return 0, 0, err
		}
		if m.ended() {
			segments++
		}
	}
	for i := range p.Buckets {
		result := &merged{}
		there, err := fetchJSON(ctx, p.Work, mergedPaper(i, p.Buckets), "result", result)
		if err != nil {
			return 0, 0, err
		}
		if there {
			buckets++
		}
	}
	return segments, buckets, nil
}

// Clear removes the manifests and the results of a pass whose report is known, so that Config.Work
// can be used for the next one. The sums, which are many, are ignored from then on. They stay until
// something else removes them, such as a lifecycle rule of the bucket.
func Clear(ctx context.Context, c Config) error {
	p, err := newPass(c)
	if err != nil {
		return err
	}
	var papers []string
	for i := range p.Segments {
		papers = append(papers, segmentPaper(i, p.Segments))
	}
	for i := range p.Buckets {
		papers = append(papers, mergedPaper(i, p.Buckets))
	}
	for _, name := range papers {
		if err := p.Work.Remove(ctx, name); err != nil {
			return fmt.Errorf("everything is compared, but %s cannot be removed from %s; use another folder for the next pass: %w", name,
				p.Work, err)
		}
	}
	return nil
}
