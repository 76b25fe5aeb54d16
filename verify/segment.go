package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Segment adds up one segment of both tables into files in Config.Work: the totals that are stored,
// and what its items add to their totals. It writes checkpoints on the way, and goes on from the
// last one if it is called again. If the segment was read to its end by an earlier call, Segment
// reads nothing and returns false. segment is below Config.Segments.
//
// With Config.Looks, the totals of all segments must have been read before: see [SegmentTotals].
func Segment(ctx context.Context, c Config, segment int) (read bool, err error) {
	if c.Looks {
		return sidesOf(ctx, c, segment, wanted)
	}
	return sidesOf(ctx, c, segment)
}

// SegmentTotals does the half of [Segment] that reads totals.
func SegmentTotals(ctx context.Context, c Config, segment int) (read bool, err error) {
	return sidesOf(ctx, c, segment, stored)
}

func sidesOf(ctx context.Context, c Config, segment int, sides ...sums.Side) (read bool, err error) {
	p, err := newPass(c)
	if err != nil {
		return false, err
	}
	if err := p.readHeads(ctx); err != nil {
		return false, err
	}
	return p.all.Segment(ctx, segment, sides...)
}

// reading is one segment that is being read.
type reading struct {
	*pass
	*sums.Reading[seen]
}

// seen is what was found in a segment besides its sums.
type seen struct {
	Items          int               `json:"items"`
	Units          float64           `json:"units"`
	Below          map[string]below  `json:"below,omitempty"` // by generation
	Unreadable     []string          `json:"odd,omitempty"`
	MoreUnreadable int               `json:"moreOdd,omitempty"` // beyond those listed
	Missing        map[string]string `json:"missing,omitempty"` // by generation: an unreadable item that is not in it
	Copies         int               `json:"copies,omitempty"`  // of rows whose type a migration has not turned yet
	Parts          int               `json:"parts,omitempty"`   // how many parts of stored wholes are missing
}

// below is how many items are stamped below a generation. Print identifies them.
type below struct {
	N     int    `json:"n"`
	Print uint64 `json:"print"`
}

// Read implements [sums.Job].
func (p *pass) Read(ctx context.Context, of *sums.Reading[seen], side sums.Side) error {
	s := reading{p, of}
	if side == stored {
		return sums.Pages(ctx, of, side, p.Source.TotalPages, s.totals)
	}
	return sums.Pages(ctx, of, side, p.Source.ItemPages, func(page *tables.Page[*event.Item]) (float64, error) {
		return s.items(ctx, page)
	})
}

func (s reading) totals(page *tables.Page[tables.StoredTotal]) (units float64, err error) {
	for i := range page.All {
		t := &page.All[i]
		if def, ok := s.Pipeline.Definition(t.Address.Name); ok && def.Since == t.Address.Since {
			s.Side(stored, s.ops[def], func(dst []byte) []byte {
				return appendKey(dst, def.Name, def.Since, t.Address.Window, t.Address.By)
			}, func(one *sums.Sum) { addStored(one, s.ops[def], def, t) })
		}
	}
	s.Seen.Units += page.Units
	return page.Units, nil
}

func (s reading) items(ctx context.Context, page *tables.Page[*event.Item]) (units float64, err error) {
	for _, odd := range page.Unreadable {
		s.Seen.unreadable(odd.Error(), s.Pipeline.Definitions()...)
	}
	for _, item := range page.All {
		s.item(item)
	}
	s.Seen.Copies += len(page.Copies)
	units, err = s.missingParts(ctx, page.All)
	s.Seen.Units += page.Units + units
	return page.Units + units, err
}

// item adds what one item contributes, and notes if the item is stamped below a generation that its
// type feeds.
func (s reading) item(item *event.Item) {
	s.Seen.Items++
	contributions := s.Pipeline.Contributions(item)
	for _, failed := range contributions.Failed {
		s.Seen.unreadable(fmt.Sprintf("item %q adds nothing to %s: %v", item.Key, failed.Def, failed.Err), failed.Def)
	}
	for _, def := range contributions.Behind {
		if s.Seen.Below == nil {
			s.Seen.Below = map[string]below{}
		}
		b := s.Seen.Below[lanes.ID(def)]
		s.Seen.Below[lanes.ID(def)] = below{b.N + 1, b.Print + sums.HashOf(item.Key.PK+"\x00"+item.Key.SK)}
	}
	for i := range contributions.List {
		c := &contributions.List[i]
		contribute(s.Set, s.ops[c.Def], c)
	}
}

// contribute adds what an item contributes to a total.
func contribute(into *sums.Set, ops []aggregate.Op, c *aggregate.Contribution) {
	into.Side(wanted, ops, func(dst []byte) []byte { return appendKey(dst, c.Def.Name, c.Def.Since, c.Window, c.By) },
		func(one *sums.Sum) { addTo(one, ops, c) })
}

// missingParts counts the parts of the wholes among these items that are not stored, and notes the
// parts among them that have no whole. It returns the read units that this took.
func (s reading) missingParts(ctx context.Context, items []*event.Item) (units float64, err error) {
	orphans, units, err := s.Source.OrphanedParts(ctx, items)
	if err != nil {
		return units, err
	}
	for _, part := range orphans {
		s.Seen.unreadable(fmt.Sprintf("item %q is a part of an event that is not stored or does not have it, and it is counted; if nobody "+
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
				s.Seen.unreadable(
					fmt.Sprintf("item %q: its i:parts is %d, but this pipeline.yaml cannot make its parts, so they are not looked for: %v",
						whole.Key, whole.Parts.Count, err))
			}
		}
	}
	return units, nil
}

// maxListed bounds each list of a report. Further entries are only counted.
const maxListed = 10_000

// unreadable notes an item that is missing from some generations.
func (s *seen) unreadable(what string, missing ...*aggregate.Definition) {
	if len(s.Unreadable) < maxListed {
		s.Unreadable = append(s.Unreadable, what)
	} else {
		s.MoreUnreadable++
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
	for _, what := range o.Unreadable {
		s.unreadable(what)
	}
	s.MoreUnreadable += o.MoreUnreadable
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
