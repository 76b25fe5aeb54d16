package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// source is a sorted list of sums: a run, or what is still in memory.
type source interface {
	// next returns the next record, or nil at the end.
	next() (*record, error)
	close() error
}

// held is what is still in memory.
type held []record

func (h *held) next() (*record, error) {
	if len(*h) == 0 {
		return nil, nil
	}
	r := &(*h)[0]
	*h = (*h)[1:]
	return r, nil
}

func (h *held) close() error { return nil }

// openFile is a run of the folder.
type openFile struct {
	*pass
	*runReader
	in   Folder
	name string
	file io.Closer
	want runFile
}

// open opens a run that a manifest names. It refuses a file whose own header says that it is a
// different run.
func (p *pass) open(ctx context.Context, folder Folder, m *manifest, want runFile) (*openFile, error) {
	name := m.name(want)
	file, err := folder.Read(ctx, name)
	if missingFile(err) {
		return nil, fmt.Errorf("%s is gone from %s, and its sums with it; begin again in an empty folder", name, folder)
	} else if err != nil {
		return nil, fmt.Errorf("reading %s in %s: %w", name, folder, err)
	}
	r, err := openRun(file)
	id := runID{Job: p.job, Segment: m.Segment, Of: m.Of, Number: want.Number, Bucket: want.Bucket, OfBucket: m.Buckets}
	if err == nil && r.id != id {
		err = &errDamaged{"it is a run of another verification"}
	}
	if err != nil {
		return nil, errors.Join(unusable(folder, name, err), file.Close())
	}
	return &openFile{pass: p, runReader: r, in: folder, name: name, file: file, want: want}, nil
}

func (f *openFile) next() (*record, error) {
	r, err := f.runReader.next(f.Pipeline)
	if err == nil && r == nil && f.ended != f.want.Sum {
		err = &errDamaged{"its checksum is not the one that its manifest names"}
	}
	if err == nil && r != nil && bucketOf(r.hash, f.Buckets) != f.want.Bucket {
		err = &errDamaged{"it holds a total of another bucket"}
	}
	return r, unusable(f.in, f.name, err)
}

func (f *openFile) close() error { return f.file.Close() }

// merger reads several sorted lists as one.
type merger struct {
	sources []source
	heads   []*record // of each source; nil once it has ended
	heap    []int     // places of the sources that have not ended; the least head is first
}

func newMerger(sources []source) (*merger, error) {
	m := &merger{sources: sources, heads: make([]*record, len(sources))}
	for i := range sources {
		if err := m.advance(i); err != nil {
			return nil, err
		}
		if m.heads[i] != nil {
			m.heap = append(m.heap, i)
			m.up(len(m.heap) - 1)
		}
	}
	return m, nil
}

func (m *merger) advance(i int) (err error) {
	m.heads[i], err = m.sources[i].next()
	return err
}

func (m *merger) less(a, b int) bool { return m.heads[m.heap[a]].before(m.heads[m.heap[b]]) }

func (m *merger) up(i int) {
	for i > 0 && m.less(i, (i-1)/2) {
		m.heap[i], m.heap[(i-1)/2] = m.heap[(i-1)/2], m.heap[i]
		i = (i - 1) / 2
	}
}

func (m *merger) down() {
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(m.heap) && m.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// next returns the next record of all lists, or nil at the end. Records of the same total and side
// come one after the other.
func (m *merger) next() (*record, error) {
	if len(m.heap) == 0 {
		return nil, nil
	}
	i := m.heap[0]
	r := m.heads[i]
	if err := m.advance(i); err != nil {
		return nil, err
	}
	if m.heads[i] == nil {
		last := len(m.heap) - 1
		m.heap[0], m.heap = m.heap[last], m.heap[:last]
	}
	m.down()
	return r, nil
}

// maxOpen is how many runs are open at the same time. If a bucket has more, some of them are merged
// into one first.
const maxOpen = 64

// listed is a run with the manifest that names it.
type listed struct {
	folder Folder
	of     *manifest
	file   runFile
}

// merge adds up the sums of one bucket, from runs and from memory, and compares every total.
func (p *pass) merge(ctx context.Context, bucket int, segments []*manifest, inMemory []source) (*merged, error) {
	var runs []listed
	for _, m := range segments {
		for _, file := range m.Runs {
			if file.Bucket == bucket {
				runs = append(runs, listed{p.folder, m, file})
			}
		}
	}
	own := &manifest{Segment: p.Segments, Of: p.Segments, Buckets: p.Buckets} // a number that no segment has
	var spare *pass
	for len(runs)+len(inMemory) > maxOpen && len(runs) > 1 {
		if spare == nil { // intermediate runs stay on this machine
			spare = &pass{Config: p.Config, job: p.job}
			defer func() { _ = spare.end() }()
		}
		n := min(maxOpen, len(runs))
		file, err := p.fuse(ctx, spare, own, bucket, runs[:n])
		if err != nil {
			return nil, err
		}
		runs = append(runs[n:], listed{spare.folder, own, file})
	}
	result := &merged{Job: hex.EncodeToString(p.job[:]), Bucket: bucket, Buckets: p.Buckets}
	return result, p.each(ctx, runs, inMemory, func(key string, stored, wanted *sum) error {
		t, err := parseKey(p.Pipeline, key)
		if err != nil {
			return err
		}
		if result.compare(t, key, stored, wanted, p.Env.Now()) && p.pick != nil {
			p.pick(key, t)
		}
		return nil
	})
}

// fuse merges several runs into one of the spare folder.
func (p *pass) fuse(ctx context.Context, spare *pass, own *manifest, bucket int, runs []listed) (runFile, error) {
	file := runFile{Number: own.Numbers, Bucket: bucket, Attempt: "fused"}
	own.Numbers++
	folder, err := spare.runs()
	if err != nil {
		return file, err
	}
	id := runID{Job: p.job, Segment: own.Segment, Of: own.Of, Number: file.Number, Bucket: bucket, OfBucket: own.Buckets}
	err = folder.Write(ctx, own.name(file), func(to io.Writer) error {
		w := newRunWriter(to, id)
		err := p.each(ctx, runs, nil, func(key string, has, wants *sum) error {
			for which, one := range []*sum{wants, has} {
				if one == nil {
					continue
				}
				if err := w.write(&record{key: key, side: side(which), sum: one}); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			file.Records = w.records
			file.Sum, err = w.end()
		}
		return err
	})
	return file, err
}

// each calls do for every total of some runs, with both of its sides. A side is nil if the runs
// have nothing of it.
func (p *pass) each(ctx context.Context, runs []listed, inMemory []source, do func(key string, stored, wanted *sum) error) (err error) {
	sources := inMemory
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.close())
		}
	}()
	for _, r := range runs {
		f, err := p.open(ctx, r.folder, r.of, r.file)
		if err != nil {
			return err
		}
		sources = append(sources, f)
	}
	m, err := newMerger(sources)
	if err != nil {
		return err
	}
	r, err := m.next()
	for r != nil && err == nil {
		of, err := parseKey(p.Pipeline, r.key)
		if err != nil {
			return err
		}
		key, sides := r.key, [2]*sum{}
		for r != nil && r.key == key {
			if one := sides[r.side]; one != nil {
				one.add(of.def, r.sum)
			} else {
				sides[r.side] = r.sum
			}
			if r, err = m.next(); err != nil {
				return err
			}
		}
		if err := do(key, sides[stored], sides[wanted]); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return err
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
	if bucket < 0 || bucket >= p.Buckets {
		return nil, fmt.Errorf("verify: there is no bucket %d of %d; the first is 0 and the last is %d", bucket, p.Buckets, p.Buckets-1)
	}
	segments, err := p.segments(ctx)
	if err != nil {
		return nil, err
	}
	result, err := p.merge(ctx, bucket, segments, nil)
	if err != nil {
		return nil, err
	}
	if err := keep(ctx, c.Work, mergedPaper(bucket, p.Buckets), "result", result); err != nil {
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
		there, err := fetch(ctx, p.Work, segmentPaper(i, p.Segments), "segment", m)
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
			return nil, fmt.Errorf("segment %d/%d is not read to its end yet in %s; run ingot verify --segment %d/%d first", i, p.Segments,
				p.Work, i, p.Segments)
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
		there, err := fetch(ctx, c.Work, mergedPaper(bucket, p.Buckets), "result", result)
		if err != nil {
			return nil, err
		}
		if !there || result.Job != hex.EncodeToString(p.job[:]) {
			return nil, fmt.Errorf("bucket %d/%d is not merged yet in %s; run ingot verify --merge %d/%d first", bucket, p.Buckets, p.Work,
				bucket, p.Buckets)
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
