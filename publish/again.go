package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/tables"
)

// Again sends the events that are stored now, with a time from since on, as stored. Their ids are
// those of the first time. names chooses publications; nil means all. Nobody knows the version
// before, so a publication's `when` is asked of the payload alone: what may meet it is sent. Again
// returns how many messages were taken, and an error if one is not. It can be repeated at any time.
//
// letters are of this function. Again sends the removals that were given up, unless an event is
// stored under the key again. left has, by its place in letters, each letter that still is about
// something that nobody was told, and why. It is for a call that chooses no publications.
func (p *Publisher) Again(ctx context.Context, since time.Time, names []string, letters []quarantine.Record) (
	sent int, left map[int]string, err error) {
	told, err := p.told(letters, names)
	if err != nil {
		return 0, nil, err
	}
	stored := map[event.Key]*found{} // what is stored under the keys of letters; nil: nothing
	for _, l := range letters {
		stored[event.Key{PK: l.PK, SK: l.SK}] = nil
	}
	asks := func(key event.Key) bool { _, is := stored[key]; return is }
	var b *batch
	flush := func() error {
		if b == nil || len(b.changes) == 0 {
			return nil
		}
		b.left = make([]error, 1)
		b.send(ctx)
		sent += b.done.Sent
		err := b.left[0]
		b = nil
		return err
	}
	now := p.store.Env.Now()
	for page, err := range walk.ItemPages(ctx, p.store, tables.Segment{}) {
		if err != nil {
			return sent, nil, err
		}
		for _, odd := range page.Unreadable {
			if asks(odd.Key) {
				stored[odd.Key] = &found{odd: true}
			}
		}
		for _, item := range page.All {
			if asks(item.Key) {
				stored[item.Key] = &found{typ: item.Type, at: item.At, expired: item.Expired(now), latest: item.Revision != nil,
					unmet: p.unmet(item)}
			}
			if item.At.Before(since) || item.Expired(now) {
				continue
			}
			if b == nil {
				b = p.newBatch(1)
			}
			if b.add(0, change{what: Stored, item: item}, names); len(b.changes) >= entries*inFlight {
				if err := flush(); err != nil {
					return sent, nil, err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return sent, nil, err
	}
	b = p.newBatch(1)
	for _, c := range told {
		if stored[c.item.Key] == nil {
			b.changes = append(b.changes, c)
		}
	}
	if err := flush(); err != nil {
		return sent, nil, err
	}
	left = map[int]string{}
	for i, l := range letters {
		if why := p.untold(l, stored[event.Key{PK: l.PK, SK: l.SK}], since); why != "" {
			left[i] = why
		}
	}
	return sent, left, nil
}

// found is what is stored under the key of a letter.
type found struct {
	typ          string
	at           time.Time
	expired, odd bool // odd: it cannot be read
	latest       bool // it may have taken the place of another version
	unmet        string
}

// unmet returns the name of a publication that sends events of this type, but not this one.
func (p *Publisher) unmet(item *event.Item) string {
	for i, of := range p.plan.Publications {
		if slices.Contains(of.From, item.Type) && item.Payload == nil && !p.plan.wants(&change{to: i, item: item}, item.Data) {
			return of.Name
		}
	}
	return ""
}

// untold says why what a letter is about is not sent by now. It is empty if it is, or if there is
// nothing to be told any more.
func (p *Publisher) untold(l quarantine.Record, is *found, since time.Time) string {
	sends := func(of Publication, what string) bool { return slices.Contains(of.On, what) }
	switch {
	case is == nil:
		if len(l.Removals) == 0 && l.Change != event.Insert.String() && l.Change != event.Modify.String() &&
			slices.ContainsFunc(p.plan.Publications, func(of Publication) bool { return sends(of, Removed) }) {
			return "nothing is stored under its key, and it does not hold the message of a removal: tell the receivers yourself"
		}
		return ""
	case is.odd:
		return "what is stored under its key cannot be read: mend that item first"
	case is.expired || l.Change == event.Remove.String() || len(l.Removals) > 0: // what is stored again has a record of its own
		return ""
	case is.at.Before(since):
		return fmt.Sprintf("its event has the time %[1]s, and what is sent begins later: begin with %[1]s", is.at.UTC().Format(time.RFC3339Nano))
	}
	for _, of := range p.plan.Publications {
		if l.Change != event.Insert.String() && slices.Contains(of.From, is.typ) && sends(of, Changed) && !sends(of, Stored) {
			return of.Name + " sends what has changed, and not what is stored: tell its receiver yourself"
		}
	}
	if is.unmet != "" && (is.latest || l.Change == event.Modify.String()) {
		return "what is stored under its key does not meet when of " + is.unmet +
			", and an earlier version may have: tell its receiver yourself"
	}
	return ""
}

// told returns the removals of letters.
func (p *Publisher) told(letters []quarantine.Record, names []string) (told []change, err error) {
	for _, l := range letters {
		key := event.Key{PK: l.PK, SK: l.SK}
		for _, name := range slices.Sorted(maps.Keys(l.Removals)) {
			if names != nil && !slices.Contains(names, name) {
				continue
			}
			to := slices.IndexFunc(p.plan.Publications, func(of Publication) bool { return of.Name == name })
			if to < 0 {
				return nil, fmt.Errorf("the letter of %s is about the publication %s, and publish.yaml has none of that name", key, name)
			}
			m, err := toldBy(key, l.Removals[name])
			if err != nil {
				return nil, err
			}
			told = append(told, change{to: to, what: Removed, item: &event.Item{Key: key}, told: m})
		}
	}
	return told, nil
}
