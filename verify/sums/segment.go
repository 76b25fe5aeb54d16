package sums

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/tables"
)

// manifest says how far a segment is read, and which files hold the sums of what was read. It is
// replaced at each checkpoint, after its files are written. A file that it does not name is
// ignored: it comes from a call that stopped before its next checkpoint, and what it holds is read
// again.
type manifest[S any] struct {
	Job     string      `json:"job"` // its ID
	Segment int         `json:"segment"`
	Of      int         `json:"of"`
	Buckets int         `json:"buckets"`
	Began   time.Time   `json:"began"`
	Ended   time.Time   `json:"ended,omitzero"` // when all was read; zero: not yet
	Read    [2]Position `json:"read"`           // by side
	Files   []sumFile   `json:"files"`
	Seen    S           `json:"seen"`

	version string // of the file, where the folder knows versions
}

// Position says how far a segment of a table is read.
type Position struct {
	PK   string `json:"pk,omitempty"` // go on after this key
	SK   string `json:"sk,omitempty"`
	Done bool   `json:"done,omitempty"`
}

func (p Position) after() event.Key { return event.Key{PK: p.PK, SK: p.SK} }

// PositionOf returns the position after a page. next is its Next.
func PositionOf(next event.Key) Position { return Position{next.PK, next.SK, next == event.Key{}} }

func segmentPaper(segment, of int) string {
	return fmt.Sprintf("segment-%04d-of-%04d.manifest", segment, of)
}

// ended reports whether the segment is read to its end.
func (m *manifest[S]) ended() bool { return !m.Ended.IsZero() }

// fetch reads the manifest, if there is one that was not cleared.
func (m *manifest[S]) fetch(ctx context.Context, folder Folder, segment, of int) (there bool, err error) {
	name := segmentPaper(segment, of)
	body, _, version, err := fetchVersion(ctx, folder, name, kindSegment)
	if missingFile(err) {
		return false, nil
	}
	if err == nil {
		err = unusable(folder, name, decodeJSON(body, m))
	}
	if err != nil {
		return false, err
	}
	m.version = version
	return m.Job != "", nil
}

// keep replaces the manifest. A folder that knows versions refuses that with [ErrReplaced] if
// somebody else has replaced it since it was read.
func (m *manifest[S]) keep(ctx context.Context, folder Folder) error {
	versions, knows := folder.(Versions)
	if !knows {
		return KeepJSON(ctx, folder, segmentPaper(m.Segment, m.Of), kindSegment, m)
	}
	body, err := encodeJSON(m)
	if err != nil {
		return err
	}
	text, _ := seal(kindSegment, body)
	m.version, err = versions.WriteVersion(ctx, segmentPaper(m.Segment, m.Of), m.version,
		func(w io.Writer) error { _, err := w.Write(text); return err })
	return err
}

// Reading is one segment that is being read.
type Reading[S any] struct {
	*Set
	// Seen is what was found besides the sums. It is kept with each checkpoint.
	Seen *S

	pace     *Pace
	manifest manifest[S]
	files    func() (Folder, error)
	attempt  string // names the files of this call
	budget   int    // bytes of sums in memory
	last     time.Time
}

// segment begins a segment, or goes on where its last checkpoint is.
func (p *Pass[S, F]) segment(ctx context.Context, segment int) (*Reading[S], error) {
	s := &Reading[S]{Set: NewSet(), pace: p.Pace, files: p.files, budget: p.Memory, last: p.Env.Now(),
		attempt: fmt.Sprintf("%012x", int64(p.Env.Rand()*(1<<48)))}
	s.Seen = &s.manifest.Seen
	if p.Work != nil {
		there, err := s.manifest.fetch(ctx, p.Work, segment, p.Segments)
		if err != nil {
			return nil, err
		}
		if there {
			return s, p.belongs(&s.manifest)
		}
	}
	s.manifest = manifest[S]{Job: hex.EncodeToString(p.id[:]), Segment: segment, Of: p.Segments, Buckets: p.Buckets,
		Began: p.Env.Now().UTC(), version: s.manifest.version}
	return s, nil
}

// belongs refuses a manifest of another job.
func (p *Pass[S, F]) belongs(m *manifest[S]) error {
	if m.Job == hex.EncodeToString(p.id[:]) {
		return nil
	}
	return fmt.Errorf("%s holds sums of another pipeline.yaml, of other tables, of other --segments and --buckets, of a call that "+
		"differs in --twice, or of before a migration went on; use an empty folder", p.Work)
}

// Pages reads one side of a segment, from where it is. It calls add for each page, and has what was
// added in a checkpoint from time to time, and when ctx ends. add returns the read units that the
// page took.
func Pages[S, T any](ctx context.Context, s *Reading[S], side Side,
	pages func(context.Context, tables.Segment) iter.Seq2[tables.Page[T], error], add func(*tables.Page[T]) (float64, error)) error {
	at := &s.manifest.Read[side]
	if at.Done {
		return nil
	}
	for page, err := range pages(ctx, s.pace.From(s.manifest.Segment, *at)) {
		if err != nil {
			return s.interrupted(ctx, err)
		}
		units, err := add(&page)
		if err != nil {
			return err // the checkpoint stays before this page, of which a part is added
		}
		*at = PositionOf(page.Next)
		if err := s.turned(ctx, side, len(page.All), units); err != nil {
			return s.interrupted(ctx, err)
		}
	}
	return nil
}

// interrupted writes a checkpoint if a context has ended, so that no page is read again.
func (s *Reading[S]) interrupted(ctx context.Context, err error) error {
	if s.pace.Work == nil || ctx.Err() == nil {
		return err
	}
	return errors.Join(err, s.checkpoint(context.WithoutCancel(ctx)))
}

// turned ends a page: it writes a checkpoint if it is time, and keeps to the rate.
func (s *Reading[S]) turned(ctx context.Context, side Side, items int, units float64) error {
	if s.bytes > s.budget || s.pace.Work != nil && s.pace.Env.Now().Sub(s.last) >= s.pace.Every {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	if side == Stored {
		return s.pace.Spent(ctx, 0, items, units)
	}
	return s.pace.Spent(ctx, items, 0, units)
}

// end says that the segment is read to its end.
func (s *Reading[S]) end(ctx context.Context) error {
	if s.manifest.ended() || s.pace.Work == nil {
		return nil
	}
	s.manifest.Ended = s.pace.Env.Now().UTC()
	return s.checkpoint(ctx)
}

// checkpoint puts everything that was read into files, and then says in the manifest that they
// count. The order matters: a manifest never covers what is only in memory.
func (s *Reading[S]) checkpoint(ctx context.Context) error {
	folder, err := s.files()
	if err != nil {
		return err
	}
	m := &s.manifest
	// Two processes may read the same segment, by mistake or one after the other. They never write
	// two files of one name, and each manifest names only its own files.
	number := len(m.Files)
	files, err := s.flush(ctx, folder, m.Buckets, func(bucket int) string {
		return fmt.Sprintf("segment-%04d-of-%04d-sums-%06d-bucket-%04d-%s", m.Segment, m.Of, number, bucket, s.attempt)
	})
	if err != nil {
		return err
	}
	m.Files, s.last = append(m.Files, files...), s.pace.Env.Now()
	if s.pace.Work == nil {
		return nil
	}
	return m.keep(ctx, s.pace.Work)
}
