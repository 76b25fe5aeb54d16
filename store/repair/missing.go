package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// MissingParts returns the parts of stored wholes that are not stored, and the read units that it
// took to find out. A part can be missing if an older ingest function, which did not know the part,
// has stored the whole alone. Items of types without parts are left out. So are parts that are too
// late to be stored, because they may have expired. If a whole lacks the fields that its parts
// need, it was stored before the parts were declared and has none. The same holds if its item did
// not keep these fields, because the payload bucket is not read. A claim whose value another whole
// holds counts as missing. So does a state if an older one is stored.
//
// While a message is being stored, its parts can look missing, because the whole is put first.
func (s *Repairer) MissingParts(ctx context.Context, wholes []*event.Item) (missing []*event.Item, units float64, err error) {
	var wanted []*event.Item
	owner := map[*event.Item]*event.Item{} // the whole of each part
	now := s.stages.Env.Now()
	for _, whole := range wholes {
		parts, err := s.stages.Pipeline.Parts(whole)
		if err != nil {
			continue
		}
		for _, part := range parts {
			if !tables.TooLate(part, now) {
				wanted, owner[part] = append(wanted, part), whole
			}
		}
	}
	for chunk := range slices.Chunk(wanted, rows.MaxKeys) {
		absent, read, err := s.absent(ctx, chunk, owner)
		units += read
		if err != nil {
			return missing, units, fmt.Errorf("reading the parts of stored events: %w", err)
		}
		missing = append(missing, absent...)
	}
	return missing, units, nil
}

// absent returns the parts whose keys hold nothing, the claim of another whole, or an older state.
// It reads up to 100 keys consistently, without payloads. If a claim differs from the one that
// would be made today, it reads that payload too, to find out whose claim it is.
func (s *Repairer) absent(ctx context.Context, parts []*event.Item, owner map[*event.Item]*event.Item) (list []*event.Item, units float64,
	err error) {
	there, units, err := s.lying(ctx, rows.Summary, parts)
	if err != nil {
		return nil, units, err
	}
	var doubtful []*event.Item
	for _, part := range parts {
		if img := there[part.Key]; len(img) == 0 || part.Whole != nil && s.stages.Older(rows.ReadPart(img, false), part) {
			list = append(list, part)
		} else if _, claim := s.stages.Pipeline.ClaimOf(part.Type); claim && !rows.Barred(img) &&
			!bytes.Equal(rows.BytesOf(img["digest"]), part.Digest[:]) {
			doubtful = append(doubtful, part)
		}
	}
	if len(doubtful) == 0 {
		return list, units, nil
	}
	there, more, err := s.lying(ctx, rows.Wholes, doubtful)
	for _, part := range doubtful {
		if held := rows.ReadPart(there[part.Key], true); !held.IsPartOf(owner[part]) {
			list = append(list, part)
		}
	}
	return list, units + more, err
}

// OrphanedParts returns the parts among these items whose whole is not stored, or does not have
// them, and the read units that it took to find out. It leaves out parts that do not hold all
// fields of their whole's key, parts of a whole that may have expired or whose payload is not in
// the item, and those that are not stored any more.
func (s *Repairer) OrphanedParts(ctx context.Context, items []*event.Item) (orphans []*event.Item, units float64, err error) {
	of := map[event.Key][]*event.Item{}
	var asked []*event.Item
	for _, part := range items {
		whole := s.stages.Pipeline.WholeOf(part)
		if whole == nil || tables.TooLate(part, s.stages.Env.Now()) || tables.TooLate(whole, s.stages.Env.Now()) {
			continue
		}
		if of[whole.Key] == nil {
			asked = append(asked, whole)
		}
		of[whole.Key] = append(of[whole.Key], part)
	}
	var alone []*event.Item
	for chunk := range slices.Chunk(asked, rows.Owners.Keys()) {
		there, read, err := s.lying(ctx, rows.Owners, chunk)
		units += read
		if err != nil {
			return nil, units, fmt.Errorf("reading the wholes of stored parts: %w", err)
		}
		for _, whole := range chunk {
			alone = append(alone, notOf(s.stages.Pipeline, there[whole.Key], whole, of[whole.Key])...)
		}
	}
	for chunk := range slices.Chunk(alone, rows.MaxKeys) { // an event may have been erased meanwhile
		there, read, err := s.lying(ctx, rows.Summary, chunk)
		units += read
		if err != nil {
			return nil, units, fmt.Errorf("reading parts again: %w", err)
		}
		for _, part := range chunk {
			if bytes.Equal(rows.BytesOf(there[part.Key]["digest"]), part.Digest[:]) {
				orphans = append(orphans, part)
			}
		}
	}
	return orphans, units, nil
}

// notOf returns the parts that the whole, as it is stored, does not have.
func notOf(p *pipeline.Pipeline, img rows.Image, whole *event.Item, parts []*event.Item) []*event.Item {
	known := rows.ReadPart(img, true)
	if len(img) == 0 || known.Barred || known.Foreign || known.Typ != whole.Type {
		return parts
	}
	stored := *whole
	at, err := keys.ParseTime(rows.TextOf(img["at"]))
	if err != nil || known.Object != nil {
		return nil // nobody knows
	}
	stored.ID, stored.At, stored.Data = rows.TextOf(img["id"]), at, known.Data
	has, err := p.Parts(&stored)
	if err != nil {
		return nil // it was stored before its type had parts, under another file
	}
	return slices.DeleteFunc(parts, func(part *event.Item) bool {
		return slices.ContainsFunc(has, func(h *event.Item) bool { return h.Key == part.Key })
	})
}

// lying consistently reads the stored items under the keys of these items. want says how much of
// each is read.
func (s *Repairer) lying(ctx context.Context, want rows.View, items []*event.Item) (there map[event.Key]rows.Image, units float64,
	err error) {
	there = make(map[event.Key]rows.Image, len(items))
	keys := make(map[event.Key]bool, len(items))
	for _, item := range items {
		keys[item.Key] = true
	}
	request := want.Request()
	for key := range keys {
		request.Keys = append(request.Keys, rows.KeyImage(key))
	}
	slices.SortFunc(request.Keys, func(a, b rows.Image) int { return rows.KeyOf(a).Compare(rows.KeyOf(b)) })
	err = s.stages.ReadKeys(ctx, s.stages.Events, request, types.ReturnConsumedCapacityTotal, func(out *dynamodb.BatchGetItemOutput) {
		for _, img := range out.Responses[s.stages.Events] {
			there[rows.KeyOf(img)] = img
		}
		for _, c := range out.ConsumedCapacity {
			units += aws.ToFloat64(c.CapacityUnits)
		}
	})
	return there, units, err
}

// PartsPut is what a pass over the parts of stored wholes did.
type PartsPut struct {
	Wholes  int // seen
	Missing int // parts that were not stored, and wholes whose parts cannot be known, because their payload is lost
	Put     int // parts that were missing and are stored now
	// Refused says why the others are not stored, for at most 100 of them.
	Refused []*event.Refusal
}

// lost notes a whole whose parts cannot be made again, because its payload is lost.
func (p *PartsPut) lost(whole *event.Item, err error) {
	p.Missing++
	p.refuse(&event.Refusal{Verdict: event.Retry, Reason: event.PayloadUnread, Key: whole.Key, Type: whole.Type,
		Detail: fmt.Sprintf("the parts of item %q cannot be made again: %v; bring the object back", whole.Key, err)})
}

// tooFarAhead reports whether a part must not be put yet, and then notes why. The lifecycle of the
// payload bucket would delete its payload before it expires.
func (p *PartsPut) tooFarAhead(part *event.Item, now time.Time) bool {
	if !payloads.IsAhead(part, now) {
		return false
	}
	p.refuse(payloads.TooFarAhead(part))
	return true
}

// refuse notes why a part is not stored.
func (p *PartsPut) refuse(why *event.Refusal) {
	if len(p.Refused) < maxRefused {
		p.Refused = append(p.Refused, why)
	}
}

// PutParts puts the missing parts of all stored wholes: see [Repairer.MissingParts]. It does no
// harm to stop it and to repeat it, or to run it while events flow: a part that arrives in the
// meantime is a Duplicate. If the payload of a whole is in the payload bucket, it is read from
// there. Parts are stamped with the pipeline's epoch. So if no streams function has started with
// that epoch yet, PutParts returns an error before it puts anything. It also does so if the secret
// of hmac is not the one that the tables were filled with: all parts would be put again, under
// other keys. If the credentials do not allow puts, it ends with the service's error.
func (s *Repairer) PutParts(ctx context.Context) (PartsPut, error) {
	var p PartsPut
	if err := s.mayStamp(ctx); err != nil {
		return p, fmt.Errorf("put parts: %w", err)
	}
	if err := s.stages.Generations.SameSecret(ctx); err != nil {
		return p, fmt.Errorf("put parts: %w", err)
	}
	for page, err := range walk.ItemPages(ctx, s.stages.Tables, tables.Segment{}) {
		if err != nil {
			return p, err
		}
		wholes := slices.DeleteFunc(page.All, func(item *event.Item) bool { return !s.stages.Pipeline.HasParts(item.Type) })
		p.Wholes += len(wholes)
		for _, whole := range wholes { // one by one, because memory may not hold the parts of a whole page
			// The item may not have kept all fields that parts are made of today.
			again, err := s.stages.WithPayload(ctx, whole)
			switch {
			case err == nil:
				whole = again
			case !errors.Is(err, tables.ErrPayloadLost):
				return p, fmt.Errorf("put parts: item %s: %w", whole.Key, err)
			default:
				if _, none := s.stages.Pipeline.Parts(whole); none != nil {
					p.lost(whole, err)
					continue
				}
			}
			missing, _, err := s.MissingParts(ctx, []*event.Item{whole})
			if err != nil {
				return p, err
			}
			p.Missing += len(missing)
			missing = slices.DeleteFunc(missing, func(part *event.Item) bool { return p.tooFarAhead(part, s.stages.Env.Now()) })
			var results []tables.Result
			if s.stages.Pipeline.Atomic(whole.Type) {
				for _, part := range missing { // one refused part must not stop the others
					results = append(results, s.stages.PutBeside(ctx, whole, part))
				}
			} else {
				results, _ = s.stages.Put(ctx, missing)
			}
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			for _, r := range results {
				if r.Verdict.Stored() && r.Refusal == nil {
					p.Put++
				} else if awserr.Denied(r.Cause) { // every other part would be refused too
					return p, fmt.Errorf("put parts: %w", r.Cause)
				} else {
					p.refuse(r.Refusal)
				}
			}
		}
	}
	return p, nil
}
