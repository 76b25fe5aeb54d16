package erase

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/erase/stray"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/tables"
)

// scan looks for parts of the events in the whole events table. A part is recognised by its digest,
// which is made of its whole's type and id, whatever pipeline.yaml says today. If nothing is known
// of an event except its key, a part is recognised by the fields of that key that it has.
func (e *Eraser) scan(ctx context.Context) error {
	byKey, byTime := map[event.Key]*Event{}, map[int64][]*Event{} // parts have the time of their whole
	for _, ev := range e.list {
		byKey[ev.key], ev.all = ev, true
		for _, whole := range ev.wholes {
			byTime[whole.At.UnixNano()] = append(byTime[whole.At.UnixNano()], ev)
		}
	}
	parts, silent := e.Plan.Describe().Spec.Events, map[string]int{} // parts that do not show their whole
	for item, err := range e.Items(ctx) {
		var odd *tables.UnreadableItem
		switch {
		case errors.As(err, &odd):
			e.note(fmt.Errorf("an item cannot be decoded, so it is not known whether it is a part: %w", err))
			continue
		case err != nil:
			return err
		}
		for _, ev := range byTime[item.At.UnixNano()] {
			for _, whole := range ev.wholes {
				is, err := e.isPart(ctx, item, whole)
				switch {
				case err != nil:
					e.note(err)
				case is:
					ev.addFound(item)
				}
			}
		}
		switch whole := e.Plan.WholeOf(item); {
		case whole == nil && e.Plan.IsPart(item.Type):
			silent[item.Type]++
		case whole != nil && byKey[whole.Key] != nil:
			byKey[whole.Key].addFound(item)
		}
	}
	for _, ev := range e.list {
		for name, n := range silent {
			if len(ev.wholes) == 0 && (ev.Type == "" || ev.Type == parts[name].Part.Of) {
				e.note(fmt.Errorf("nothing is known of %s but its key, and %s of type %s may be of that event: they do not show its key; "+
					"erase them by their own keys, or delete their items if they are claims or states", e.shown(ev.Type, ev.key),
					show.Count(n, "item"), name))
			}
		}
	}
	return nil
}

// Items scans the events table, as [stray.Items] does: a copy of a row holds what a person may want
// erased.
func (e *Eraser) Items(ctx context.Context) iter.Seq2[*event.Item, error] {
	if err := e.Scans(ctx, e.Target.EventsTable); err != nil {
		return func(yield func(*event.Item, error) bool) { yield(nil, err) }
	}
	return stray.Items(ctx, e.Store)
}

func (ev *Event) addFound(part *event.Item) {
	for _, p := range ev.found {
		if p.Key == part.Key {
			return
		}
	}
	ev.found = append(ev.found, part)
}

// isPart reports whether a stored item is a part of an event. It reads the item's payload if that
// is in the payload bucket.
func (e *Eraser) isPart(ctx context.Context, item, whole *event.Item) (bool, error) {
	if item.Key == whole.Key || !item.At.Equal(whole.At) {
		return false, nil
	}
	text, err := e.Store.Payload(ctx, item)
	if err != nil {
		part, of := e.shown(item.Type, item.Key), e.shown(whole.Type, whole.Key)
		return false, fmt.Errorf("it is not known whether %s is a part of %s: %w", part, of, err)
	}
	doc, err := event.ParseDocument(text)
	return err == nil && item.Digest == sha256.Sum256(keys.PartDigestText(nil, item.Type, doc.Root(), whole.Type, whole.ID)), nil
}
