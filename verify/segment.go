package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
)

// Segment adds up one segment of both tables into files in Config.Work: the totals that are stored,
// and what its items add to their totals. It writes checkpoints on the way, and goes
// on from the last one if it is called again. If the segment was read to its end by an earlier
// call, Segment reads nothing and returns false. segment is below Config.Segments.
func Segment(ctx context.Context, c Config, segment int) (read bool, err error) {
	p, err := newPass(c)
	if err != nil {
		return false, err
	}
	if c.Work == nil {
		return false, errors.New("verify: a segment needs Config.Work, where its sums stay for the merge")
	}
	if segment < 0 || segment >= p.Segments {
		return false, fmt.Errorf("verify: there is no segment %d of %d; the first is 0 and the last is %d", segment, p.Segments,
			p.Segments-1)
	}
	if err := p.heads(ctx); err != nil {
		return false, err
	}
	s, err := p.segment(ctx, segment)
	if err != nil || s.ended() {
		return false, err
	}
	if err := s.totals(ctx); err != nil {
		return true, err
	}
	return true, s.items(ctx)
}

// reading is one segment that is being read.
type reading struct {
	*pass
	manifest
	attempt string // names the files of this call
	budget  int    // bytes of sums in memory
	sums    *sums
	last    time.Time // the last checkpoint
}

// seen is what was found in a segment besides its sums.
type seen struct {
	Items   int               `json:"items"`
	Units   float64           `json:"units"`
	Below   map[string]below  `json:"below,omitempty"` // by generation
	Odd     []string          `json:"odd,omitempty"`
	MoreOdd int               `json:"moreOdd,omitempty"` // beyond those listed
	Missing map[string]string `json:"missing,omitempty"` // by generation: an odd item that is not in it
	Copies  int               `json:"copies,omitempty"`  // of rows whose type a migration has not turned yet
	Parts   int               `json:"parts,omitempty"`   // how many parts of stored wholes are missing
}

// below is how many items are stamped below a generation. Print identifies them.
type below struct {
	N     int    `json:"n"`
	Print uint64 `json:"print"`
}

// segment begins a segment, or goes on where its last checkpoint is.
func (p *pass) segment(ctx context.Context, segment int) (*reading, error) {
	s := &reading{pass: p, budget: p.Memory, sums: newSums(), last: p.Env.Now(),
		attempt: fmt.Sprintf("%012x", int64(p.Env.Rand()*(1<<48)))}
	fresh := manifest{Job: hex.EncodeToString(p.job[:]), Segment: segment, Of: p.Segments, Buckets: p.Buckets, Began: p.Env.Now().UTC()}
	if p.Work != nil {
		there, err := fetchManifest(ctx, p.Work, segment, p.Segments, &s.manifest)
		if err != nil {
			return nil, err
		}
		if there {
			return s, s.belongs(p)
		}
	}
	s.manifest = fresh
	return s, nil
}

// belongs refuses a manifest of another job.
func (m *manifest) belongs(p *pass) error {
	if m.Job == hex.EncodeToString(p.job[:]) {
		return nil
	}
	return fmt.Errorf("%s holds sums of another pipeline.yaml, of other tables, of other --segments and --buckets, or of a call that "+
		"differs in --twice; use an empty folder", p.Work)
}

// ended reports whether the segment is read to its end.
func (m *manifest) ended() bool { return !m.Ended.IsZero() }

var errStopped = errors.New("another segment has failed")

// interrupted writes a checkpoint if a context has ended, so that no page is read again.
func (s *reading) interrupted(ctx context.Context, err error) error {
	if s.Work == nil || ctx.Err() == nil {
		return err
	}
	return errors.Join(err, s.checkpoint(context.WithoutCancel(ctx)))
}

// totals reads the totals. Each is read before any item, so what is under way looks the same only
// once.
func (s *reading) totals(ctx context.Context) error {
	if err := s.readTotals(ctx); err != nil {
		return s.interrupted(ctx, err)
	}
	return nil
}

func (s *reading) readTotals(ctx context.Context) error {
	if s.Totals.Done {
		return nil
	}
	for page, err := range s.Source.TotalPages(ctx, s.from(s.Segment, s.Totals)) {
		if err != nil {
			return err
		}
		for i := range page.All {
			t := &page.All[i]
			if def, ok := s.Pipeline.Definition(t.Address.Name); ok && def.Since == t.Address.Since {
				s.sums.bucket(def, t)
			}
		}
		s.Totals = positionOf(page.Next)
		if err := s.turned(ctx, 0, len(page.All), page.Units); err != nil {
			return err
		}
	}
	return nil
}

// items reads the items, and so the segment to its end.
func (s *reading) items(ctx context.Context) error {
	if s.ended() {
		return nil
	}
	if err := s.readItems(ctx); err != nil {
		return s.interrupted(ctx, err)
	}
	if s.Work == nil {
		return nil
	}
	s.Ended = s.Env.Now().UTC()
	return s.checkpoint(ctx)
}

func (s *reading) readItems(ctx context.Context) error {
	if s.Items.Done {
		return nil
	}
	for page, err := range s.Source.ItemPages(ctx, s.from(s.Segment, s.Items)) {
		if err != nil {
			return err
		}
		for _, odd := range page.Odd {
			s.Seen.odd(odd.Error(), s.Pipeline.Definitions()...)
		}
		for _, item := range page.All {
			s.item(item)
		}
		s.Seen.Copies += page.Copies
		units, err := s.missingParts(ctx, page.All)
		page.Units += units
		if err != nil {
			return err
		}
		s.Items = positionOf(page.Next)
		if err := s.turned(ctx, len(page.All), 0, page.Units); err != nil {
			return err
		}
	}
	return nil
}

// item adds what one item contributes, and notes if the item is stamped below a generation that its
// type feeds.
func (s *reading) item(item *event.Item) {
	s.Seen.Items++
	contributions := s.Pipeline.Contributions(item)
	for _, failed := range contributions.Failed {
		s.Seen.odd(fmt.Sprintf("item %q adds nothing to %s: %v", item.Key, failed.Def, failed.Err), failed.Def)
	}
	for _, def := range contributions.Behind {
		if s.Seen.Below == nil {
			s.Seen.Below = map[string]below{}
		}
		b := s.Seen.Below[lanes.ID(def)]
		s.Seen.Below[lanes.ID(def)] = below{b.N + 1, b.Print + hashOf(item.Key.PK+"\x00"+item.Key.SK)}
	}
	for i := range contributions.List {
		s.sums.contribution(&contributions.List[i])
	}
}

// missingParts counts the parts of the wholes among these items that are not stored, and notes the
// parts among them that have no whole. It returns the read units that this took.
func (s *reading) missingParts(ctx context.Context, items []*event.Item) (units float64, err error) {
	orphans, units, err := s.Source.OrphanedParts(ctx, items)
	if err != nil {
		return units, err
	}
	for _, part := range orphans {
		s.Seen.odd(fmt.Sprintf("item %q is a part of an event that is not stored or does not have it, and it is counted; if nobody "+
			"needs it, delete it by its key", part.Key))
	}
	for _, whole := range items { // one by one: the parts of a page may be more than memory holds
		if !s.Pipeline.HasParts(whole.Type) {
			continue
		}
		missing, read, err := s.Source.MissingParts(ctx, []*event.Item{whole})
		if units += read; err != nil {
			return units, err
		}
		s.Seen.Parts += len(missing)
		if read == 0 && whole.Parts != nil && whole.Parts.Count > 0 {
			if _, err := s.Pipeline.Parts(whole); err != nil {
				s.Seen.odd(
					fmt.Sprintf("item %q: its i:parts is %d, but this pipeline.yaml cannot make its parts, so they are not looked for: %v",
						whole.Key, whole.Parts.Count, err))
			}
		}
	}
	return units, nil
}

// from returns the rest of a segment, after a position.
func (p *pass) from(segment int, at position) tables.Segment {
	left := tables.Segment{After: at.after()}
	if p.Segments > 1 {
		left.Number, left.Of = segment, p.Segments
	}
	return left
}

func positionOf(next event.Key) position {
	return position{next.PK, next.SK, next == event.Key{}}
}

// turned ends a page: it writes a checkpoint if it is time, and keeps to the rate.
func (s *reading) turned(ctx context.Context, items, buckets int, units float64) error {
	s.Seen.Units += units
	if s.sums.bytes > s.budget || s.Work != nil && s.Env.Now().Sub(s.last) >= s.Every {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
	}
	if s.stopped() {
		return errStopped
	}
	return s.spent(ctx, items, buckets, units)
}

// checkpoint puts everything that was read into files, and then says in the manifest that they
// count. The order matters: a manifest never covers what is only in memory.
func (s *reading) checkpoint(ctx context.Context) error {
	folder, err := s.files()
	if err != nil {
		return err
	}
	// Two processes may read the same segment, by mistake or one after the other. They never write
	// two files of one name, and each manifest names only its own files.
	number := len(s.Files)
	files, err := s.sums.flush(ctx, folder, s.Buckets, func(bucket int) string {
		return fmt.Sprintf("segment-%04d-of-%04d-sums-%06d-bucket-%04d-%s", s.Segment, s.Of, number, bucket, s.attempt)
	})
	if err != nil {
		return err
	}
	s.Files, s.last = append(s.Files, files...), s.Env.Now()
	if s.Work == nil {
		return nil
	}
	return keepManifest(ctx, s.Work, &s.manifest)
}

// maxListed bounds each list of a report. Further entries are only counted.
const maxListed = 10_000

// odd notes an item that is missing from some generations.
func (s *seen) odd(what string, missing ...*aggregate.Definition) {
	if len(s.Odd) < maxListed {
		s.Odd = append(s.Odd, what)
	} else {
		s.MoreOdd++
	}
	for _, def := range missing {
		if s.Missing == nil {
			s.Missing = map[string]string{}
		}
		if id := lanes.ID(def); s.Missing[id] == "" {
			s.Missing[id] = what
		}
	}
}

// add adds what another segment has seen.
func (s *seen) add(o *seen) {
	s.Items += o.Items
	s.Units += o.Units
	s.Parts += o.Parts
	s.Copies += o.Copies
	for _, what := range o.Odd {
		s.odd(what)
	}
	s.MoreOdd += o.MoreOdd
	if s.Below == nil {
		s.Below, s.Missing = map[string]below{}, map[string]string{}
	}
	for _, id := range slices.Sorted(maps.Keys(o.Below)) {
		a, b := s.Below[id], o.Below[id]
		s.Below[id] = below{a.N + b.N, a.Print + b.Print}
	}
	for _, id := range slices.Sorted(maps.Keys(o.Missing)) {
		if s.Missing[id] == "" {
			s.Missing[id] = o.Missing[id]
		}
	}
}
