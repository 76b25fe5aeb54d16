package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
)

// MissingParts returns the parts of stored wholes that are not stored, and the read units that it
// took to find out. A part can be missing if an ingest function that did not know it has acknowledged
// the whole alone. Items of types without parts are left out, and so are parts that are too late to be
// stored, because they may have expired. A whole that lacks what its parts need was stored before they
// were declared, and has none. So does a whole of which the item did not keep what they need: the payload
// bucket is not read. A claim whose value another whole holds is missing.
//
// A message under way can look like missing parts: its whole is put first.
func (s *Store) MissingParts(ctx context.Context, wholes []*event.Item) (missing []*event.Item, units float64, err error) {
	var wanted []*event.Item
	owner := map[*event.Item]*event.Item{} // the whole of each part
	now := s.env.Now()
	for _, whole := range wholes {
		parts, err := s.pipeline.Parts(whole)
		if err != nil {
			continue
		}
		for _, part := range parts {
			if !tooLate(part, now) {
				wanted, owner[part] = append(wanted, part), whole
			}
		}
	}
	for chunk := range slices.Chunk(wanted, maxKeys) {
		absent, read, err := s.absent(ctx, chunk, owner)
		units += read
		if err != nil {
			return missing, units, fmt.Errorf("reading the parts of stored events: %w", err)
		}
		missing = append(missing, absent...)
	}
	return missing, units, nil
}

// absent returns the parts under whose keys nothing is stored, or another whole's claim. It reads up to 100 keys
// consistently, without their payloads. Only of a claim that is not as it would be made today it reads the payload
// too, to know whose it is.
func (s *Store) absent(ctx context.Context, parts []*event.Item, owner map[*event.Item]*event.Item) (list []*event.Item, units float64, err error) {
	there, units, err := s.lying(ctx, summary, parts)
	if err != nil {
		return nil, units, err
	}
	var doubtful []*event.Item
	for _, part := range parts {
		if img := there[part.Key]; len(img) == 0 {
			list = append(list, part)
		} else if _, claim := s.pipeline.ClaimOf(part.Type); claim && !barred(img) && !bytes.Equal(bytesOf(img["digest"]), part.Digest[:]) {
			doubtful = append(doubtful, part)
		}
	}
	if len(doubtful) == 0 {
		return list, units, nil
	}
	there, more, err := s.lying(ctx, wholes, doubtful)
	for _, part := range doubtful {
		if held := readPart(there[part.Key], true); !held.isPartOf(owner[part]) {
			list = append(list, part)
		}
	}
	return list, units + more, err
}

// lying reads consistently what lies under the keys of items, as far as want asks for it.
func (s *Store) lying(ctx context.Context, want view, items []*event.Item) (there map[event.Key]image, units float64, err error) {
	there = make(map[event.Key]image, len(items))
	keys := make(map[event.Key]bool, len(items))
	for _, item := range items {
		keys[item.Key] = true
	}
	request := want.request()
	for key := range keys {
		request.Keys = append(request.Keys, keyImage(key))
	}
	slices.SortFunc(request.Keys, func(a, b image) int { return keyOf(a).Compare(keyOf(b)) })
	err = s.readAll(ctx, s.events, request, types.ReturnConsumedCapacityTotal, func(out *dynamodb.BatchGetItemOutput) {
		for _, img := range out.Responses[s.events] {
			there[keyOf(img)] = img
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
	Put     int // of them, those that are stored now
	// Refused says why the others are not stored, for at most 100 of them.
	Refused []*event.Refusal
}

// lost notes a whole whose parts cannot be made again, because its payload is lost.
func (p *PartsPut) lost(whole *event.Item, err error) {
	p.Missing++
	if len(p.Refused) < maxRefused {
		p.Refused = append(p.Refused, &event.Refusal{Verdict: event.Retry, Reason: event.PayloadUnread, Key: whole.Key, Type: whole.Type,
			Detail: fmt.Sprintf("the parts of item %s cannot be made again: %v; bring the object back", whole.Key, err)})
	}
}

// PutParts puts the missing parts of all stored wholes: see [Store.MissingParts]. It does no harm to
// stop it and to repeat it, or to run it while events flow: a part that arrives in the meantime is a
// Duplicate. If the payload of a whole is in the payload bucket, it is read from there. It is refused before it puts anything if no streams function has started with the
// pipeline's epoch yet, because parts are stamped with it. It ends with the service's error if the
// credentials may not put.
func (s *Store) PutParts(ctx context.Context) (PartsPut, error) {
	var p PartsPut
	if err := s.mayStamp(ctx); err != nil {
		return p, fmt.Errorf("put parts: %w", err)
	}
	for page, err := range s.ItemPages(ctx, Segment{}) {
		if err != nil {
			return p, err
		}
		wholes := slices.DeleteFunc(page.All, func(item *event.Item) bool { return !s.pipeline.HasParts(item.Type) })
		p.Wholes += len(wholes)
		for _, whole := range wholes { // one by one: the parts of a page may be more than memory holds
			// What the item keeps of its payload may lack what makes parts today.
			again, err := s.withPayload(ctx, whole)
			switch {
			case err == nil:
				whole = again
			case !errors.Is(err, ErrPayloadLost):
				return p, fmt.Errorf("put parts: item %s: %w", whole.Key, err)
			default:
				if _, none := s.pipeline.Parts(whole); none != nil {
					p.lost(whole, err)
					continue
				}
			}
			missing, _, err := s.MissingParts(ctx, []*event.Item{whole})
			if err != nil {
				return p, err
			}
			p.Missing += len(missing)
			var results []Result
			if s.pipeline.Atomic(whole.Type) {
				for _, part := range missing { // one that is refused must not keep the others away
					results = append(results, s.putBeside(ctx, whole, part))
				}
			} else {
				results, _ = s.putAlone(ctx, missing)
			}
			for n := range results {
				s.takeBack(ctx, missing[n], &results[n], &Cost{})
			}
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			for _, r := range results {
				if r.Verdict.Stored() && r.Refusal == nil {
					p.Put++
				} else if awserr.Denied(r.cause) { // as every other would be
					return p, fmt.Errorf("put parts: %w", r.cause)
				} else if len(p.Refused) < maxRefused {
					p.Refused = append(p.Refused, r.Refusal)
				}
			}
		}
	}
	return p, nil
}
