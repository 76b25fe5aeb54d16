package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/verify/sums"
)

// touching says how far a touch pass is in a segment. It is replaced at each checkpoint.
type touching struct {
	Job        string        `json:"job"`
	Items      sums.Position `json:"items"`
	Scanned    int           `json:"scanned"`
	Touched    int           `json:"touched"`
	Unreadable int           `json:"odd,omitempty"`
	Payloads   int           `json:"payloads,omitempty"`
	Refused    []key         `json:"refused,omitempty"`
	Refusals   []string      `json:"refusals,omitempty"` // for each key of Refused, why
	Reads      float64       `json:"reads"`
	Writes     float64       `json:"writes"`
}

type key struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

// toucher is one call of [Touch].
type toucher struct {
	*sums.Pace
	store *store.Store
}

// TouchPass is what [Touch] did.
type TouchPass struct {
	repair.Touched
	Reads, Writes float64 // units, including those of earlier calls that were stopped
}

// Touch is [repair.Repairer.Touch] with more to choose: Config.Segments of the events table side by
// side, at Config.Rate for reads and writes together. With Config.Work, it writes checkpoints on
// the way and goes on where an earlier call with the same folder stopped. Config.Progress is told
// how many items were seen. Source, Buckets and Memory do not matter.
//
// If an older function stores an item in a part of the table that the pass has already read, that
// item is not touched. [Finish] then says that items are still stamped below.
func Touch(ctx context.Context, c Config, st *store.Store) (t TouchPass, err error) {
	p := &toucher{sums.NewPace(c.Config), st}
	job := sha256.Sum256(fmt.Appendf(nil, "ingot touch\n%q\n%d %d\n", c.About, p.Segments, c.Pipeline.Epoch()))
	parts := make([]touching, p.Segments)
	err = p.SideBySide(func(i int) error {
		parts[i].Job = hex.EncodeToString(job[:])
		return p.segment(ctx, i, &parts[i])
	})
	var refusals []error
	for i := range parts {
		part := &parts[i]
		t.Add(repair.Touched{Scanned: part.Scanned, Touched: part.Touched, Unreadable: part.Unreadable,
			Payloads: part.Payloads, Refused: part.refused()})
		t.Reads, t.Writes = t.Reads+part.Reads, t.Writes+part.Writes
		for _, why := range part.Refusals {
			refusals = append(refusals, errors.New(why))
		}
	}
	if err != nil {
		return t, err
	}
	if p.Work != nil { // the next pass must see all items again
		for i := range parts {
			if err := p.Work.Remove(ctx, touchPaper(i, p.Segments)); err != nil {
				return t, fmt.Errorf("everything is touched, but %s cannot be removed from %s; empty it before the next pass: %w",
					touchPaper(i, p.Segments), p.Work, err)
			}
		}
	}
	return t, repair.RefusedTouches(refusals)
}

func touchPaper(segment, of int) string {
	return fmt.Sprintf("touch-%04d-of-%04d.manifest", segment, of)
}

func (t *touching) refused() (list []event.Key) {
	for _, k := range t.Refused {
		list = append(list, event.Key{PK: k.PK, SK: k.SK})
	}
	return list
}

// touchSegment touches the items of a segment, from where its last checkpoint is.
func (p *toucher) segment(ctx context.Context, segment int, t *touching) error {
	name, job := touchPaper(segment, p.Segments), t.Job
	if p.Work != nil {
		if _, err := sums.FetchJSON(ctx, p.Work, name, "touch", t); err != nil {
			return err
		}
		if t.Job != job {
			return fmt.Errorf("%s holds a touch pass of another epoch, or of other tables or --segments; use an empty folder", p.Work)
		}
	}
	if t.Items.Done {
		return nil
	}
	err := p.pages(ctx, segment, t, name)
	if p.Work != nil { // save a checkpoint in any case, so that nothing is done twice
		err = errors.Join(err, sums.KeepJSON(context.WithoutCancel(ctx), p.Work, name, "touch", t))
	}
	return err
}

func (p *toucher) pages(ctx context.Context, segment int, t *touching, name string) error {
	last := p.Env.Now()
	for page, err := range repair.Of(p.store).TouchPages(ctx, p.From(segment, t.Items)) {
		t.Touched, t.Payloads = t.Touched+page.Touched.Touched, t.Payloads+page.Payloads
		t.Reads, t.Writes = t.Reads+page.Reads, t.Writes+page.Writes
		for i, k := range page.Refused {
			t.Refused, t.Refusals = append(t.Refused, key{k.PK, k.SK}), append(t.Refusals, page.Refusals[i].Error())
		}
		if err != nil {
			return err // the checkpoint stays before this page
		}
		t.Scanned, t.Unreadable = t.Scanned+page.Scanned, t.Unreadable+page.Unreadable
		t.Items = sums.PositionOf(page.Next)
		if p.Work != nil && p.Env.Now().Sub(last) >= p.Every {
			if err := sums.KeepJSON(ctx, p.Work, name, "touch", t); err != nil {
				return err
			}
			last = p.Env.Now()
		}
		if err := p.Spent(ctx, page.Scanned, 0, page.Reads+page.Writes); err != nil {
			return err
		}
	}
	return nil
}
