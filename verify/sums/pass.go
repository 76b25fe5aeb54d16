package sums

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

// Job is what a pass adds up. S is what a segment has besides its sums, and F what a comparison has
// found; both are written as JSON. The zero values of both are empty.
type Job[S, F any] interface {
	// Read reads one side of a segment with [Pages].
	Read(ctx context.Context, s *Reading[S], side Side) error
	// Ops returns the operations of the values of a key. The error says that the key does not
	// belong here.
	Ops(key string) ([]aggregate.Op, error)
	// Compare compares both sides of a key, and notes in found what differs. Keys of one bucket
	// come in order.
	Compare(found *F, p *Pair) error
}

// Pass is a job with the tables that it reads. One call of a method works on it at a time.
type Pass[S, F any] struct {
	*Pace
	id      ID
	job     Job[S, F]
	folder  Folder  // where sums go; nil as long as all of them are in memory
	scratch scratch // the folder to remove at the end, if there is one
}

// New returns a pass. It reads nothing.
func New[S, F any](c Config, id ID, job Job[S, F]) *Pass[S, F] {
	p := &Pass[S, F]{Pace: NewPace(c), folder: c.Work, job: job}
	p.id = sha256.Sum256(fmt.Appendf(id[:], "%q %d %d", c.About, p.Segments, p.Buckets))
	return p
}

// Result is what a pass has seen in its segments and found in its buckets.
type Result[S, F any] struct {
	Seen  []*S
	Found []*F
	Began time.Time // when the first segment began

	papers []string // what is not needed any more, beside manifests
}

// add adds a segment.
func (r *Result[S, F]) add(m *manifest[S]) {
	r.Seen = append(r.Seen, &m.Seen)
	if r.Began.IsZero() || m.Began.Before(r.Began) {
		r.Began = m.Began
	}
}

// files returns the folder for sums.
func (p *Pass[S, F]) files() (Folder, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.folder == nil {
		dir, err := newScratch()
		if err != nil {
			return nil, err
		}
		p.scratch, p.folder = dir, dir
	}
	return p.folder, nil
}

// Run reads all segments side by side, and compares everything, in this process. It reads all of
// the stored side before the first item of the wanted one.
//
// With Config.Work, it continues where an earlier call with the same folder stopped.
func (p *Pass[S, F]) Run(ctx context.Context) (r *Result[S, F], err error) {
	defer func() { err = errors.Join(err, p.scratch.remove()) }()
	readings := make([]*Reading[S], p.Segments)
	err = p.SideBySide(func(i int) (err error) {
		if readings[i], err = p.segment(ctx, i); err != nil {
			return err
		}
		readings[i].budget /= p.Segments
		return p.job.Read(ctx, readings[i], Stored)
	})
	if err == nil {
		err = p.SideBySide(func(i int) error {
			if err := p.job.Read(ctx, readings[i], Wanted); err != nil {
				return err
			}
			return readings[i].end(ctx)
		})
	}
	if err != nil {
		return nil, err
	}
	r = &Result[S, F]{}
	for _, s := range readings {
		r.add(&s.manifest)
	}
	if p.folder == nil {
		return r, p.compareInMemory(ctx, r, readings)
	}
	return r, p.compareFiles(ctx, r, readings)
}

// compareInMemory compares all keys if no segment needed a file.
func (p *Pass[S, F]) compareInMemory(ctx context.Context, r *Result[S, F], readings []*Reading[S]) error {
	all := readings[0].Set
	for _, s := range readings[1:] {
		for _, one := range s.of {
			all.add(one)
		}
		s.Set = nil
	}
	found := new(F)
	r.Found = append(r.Found, found)
	return all.each(ctx, func(one *Pair) error { return p.job.Compare(found, one) })
}

// compareFiles compares all keys, one hash bucket after the other. First it puts what is still in
// memory into files, so that each bucket has the memory for itself.
func (p *Pass[S, F]) compareFiles(ctx context.Context, r *Result[S, F], readings []*Reading[S]) error {
	var files []sumFile
	for _, s := range readings {
		if len(s.of) > 0 {
			if err := s.checkpoint(ctx); err != nil {
				return err
			}
		}
		files = append(files, s.manifest.Files...)
	}
	for _, file := range files {
		r.papers = append(r.papers, file.Name)
	}
	for bucket := range p.Buckets {
		found, err := p.merge(ctx, files, bucket)
		if err != nil {
			return err
		}
		r.Found = append(r.Found, found)
	}
	return nil
}

// Segment reads sides of one segment into files in Config.Work, with checkpoints on the way, and
// goes on from the last one if it is called again. Without sides, it reads both. A wanted side is
// refused before the stored side of the segment is read. If nothing was left to read, it returns
// false. The first segment is 0.
func (p *Pass[S, F]) Segment(ctx context.Context, segment int, sides ...Side) (read bool, err error) {
	if p.Work == nil {
		return false, errors.New("a segment needs Config.Work, where its sums stay for the merge")
	}
	if err := numbered("segment", segment, p.Segments); err != nil {
		return false, err
	}
	s, err := p.segment(ctx, segment)
	if err != nil || s.manifest.ended() {
		return false, err
	}
	if len(sides) == 0 {
		sides = []Side{Stored, Wanted}
	}
	for _, side := range sides {
		if side == Wanted && !s.manifest.Read[Stored].Done {
			return false, fmt.Errorf("segment %d of %d is not read in the table that is compared; read that first, in all segments",
				segment, p.Segments)
		}
		if s.manifest.Read[side].Done {
			continue
		}
		if err := p.job.Read(ctx, s, side); err != nil {
			return true, err
		}
		read = true
	}
	if s.manifest.Read[Wanted].Done {
		return true, s.end(ctx)
	}
	if !read {
		return false, nil
	}
	return true, s.checkpoint(ctx)
}

// Merge adds up what all segments hold of one hash bucket, compares its keys, and keeps what it
// finds in Config.Work for [Pass.Collect]. All segments must have been read to their end. The first
// bucket is 0.
func (p *Pass[S, F]) Merge(ctx context.Context, bucket int) (*F, error) {
	if p.Work == nil {
		return nil, errors.New("a merge needs Config.Work, where the sums of the segments are")
	}
	if err := numbered("bucket", bucket, p.Buckets); err != nil {
		return nil, err
	}
	segments, err := p.segments(ctx)
	if err != nil {
		return nil, err
	}
	var files []sumFile
	for _, m := range segments {
		files = append(files, m.Files...)
	}
	found, err := p.merge(ctx, files, bucket)
	if err != nil {
		return nil, err
	}
	return found, KeepJSON(ctx, p.Work, mergedPaper(bucket, p.Buckets), kindResult,
		merged[F]{p.jobOf(segments), bucket, p.Buckets, *found})
}

// segments returns the manifests of all segments, which must have been read to their end.
func (p *Pass[S, F]) segments(ctx context.Context) ([]*manifest[S], error) {
	all := make([]*manifest[S], p.Segments)
	for i := range all {
		m := &manifest[S]{}
		there, err := m.fetch(ctx, p.Work, i, p.Segments)
		if err == nil && there {
			err = p.belongs(m)
		}
		switch {
		case err != nil:
			return nil, err
		case !m.ended():
			return nil, fmt.Errorf("segment %d of %d is not read to its end yet in %s; read it first, with the same numbers of segments "+
				"and buckets", i, p.Segments, p.Work)
		}
		all[i] = m
	}
	return all, nil
}

// Collect puts together what all segments have seen and all merges have found.
func (p *Pass[S, F]) Collect(ctx context.Context) (*Result[S, F], error) {
	if p.Work == nil {
		return nil, errors.New("a result needs Config.Work, where the results of the merges are")
	}
	segments, err := p.segments(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result[S, F]{}
	for _, m := range segments {
		r.add(m)
	}
	for bucket := range p.Buckets {
		m, err := p.merged(ctx, bucket, p.jobOf(segments))
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, fmt.Errorf("bucket %d of %d is not merged yet in %s; merge it first, with the same numbers of segments and buckets",
				bucket, p.Buckets, p.Work)
		}
		r.Found, r.papers = append(r.Found, &m.Found), append(r.papers, mergedPaper(bucket, p.Buckets))
	}
	return r, nil
}

// Done counts the units of work that are done.
type Done struct {
	Stored   int // segments whose stored side is read
	Segments int // segments that are read to their end
	Buckets  int // buckets that are merged
}

// Done reads which units of work are done in Config.Work. A folder of another job is refused.
func (p *Pass[S, F]) Done(ctx context.Context) (d Done, err error) {
	var segments []*manifest[S]
	for i := range p.Segments {
		m := &manifest[S]{}
		there, err := m.fetch(ctx, p.Work, i, p.Segments)
		if err == nil && there {
			err = p.belongs(m)
		}
		if err != nil {
			return d, err
		}
		if m.Read[Stored].Done {
			d.Stored++
		}
		if m.ended() {
			d.Segments++
		}
		segments = append(segments, m)
	}
	for i := range p.Buckets {
		m, err := p.merged(ctx, i, p.jobOf(segments))
		if err != nil {
			return d, err
		}
		if m != nil {
			d.Buckets++
		}
	}
	return d, nil
}

// Clear removes the files of a pass whose result is known, so that the next pass does not use them.
// Nil stands for any result of many processes. Their sums are ignored from then on, and stay until
// something else removes them, such as a lifecycle rule of the bucket. So is what a process that
// was given up still writes after Clear.
func (p *Pass[S, F]) Clear(ctx context.Context, r *Result[S, F]) error {
	if p.Work == nil {
		return nil
	}
	for i := range p.Segments {
		if err := p.clear(ctx, i); err != nil {
			return notCleared(segmentPaper(i, p.Segments), p.Work, err)
		}
	}
	var papers []string
	if r != nil {
		papers = r.papers
	} else {
		for i := range p.Buckets {
			papers = append(papers, mergedPaper(i, p.Buckets))
		}
	}
	for _, name := range papers {
		if err := p.Work.Remove(ctx, name); err != nil {
			return notCleared(name, p.Work, err)
		}
	}
	return nil
}

func notCleared(name string, from Folder, err error) error {
	return fmt.Errorf("everything is compared, but %s cannot be removed from %s; use another folder for the next pass: %w", name, from, err)
}

// clear removes a manifest. In a folder that knows versions, an empty one takes its place: without
// any, a process that was given up before its first checkpoint could still write its own.
func (p *Pass[S, F]) clear(ctx context.Context, segment int) error {
	if _, knows := p.Work.(Versions); !knows {
		return p.Work.Remove(ctx, segmentPaper(segment, p.Segments))
	}
	m := &manifest[S]{}
	if _, err := m.fetch(ctx, p.Work, segment, p.Segments); err != nil {
		return err
	}
	return (&manifest[S]{Segment: segment, Of: p.Segments, version: m.version}).keep(ctx, p.Work)
}
