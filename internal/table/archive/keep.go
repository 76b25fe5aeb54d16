package archive

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/tables"
)

// Keeper archives what has expired.
type Keeper struct {
	Bucket Bucket
	// Files says that the items of a batch are kept in files. Without it, each is an object.
	Files bool
	// Payload returns the payload of an item as text. Before it reads an object, it asks room.
	Payload func(ctx context.Context, item *event.Item, room func(bytes int64) bool) (string, error)
	// Lost is told of an item that is archived without its payload, because the payload is not in
	// its bucket any more.
	Lost func(c *event.Change, err error)
	Env  env.Env
}

// Kept says how far a Keeper has come.
type Kept struct {
	Archived int
	// First is the first removal that is not archived, and Err says why. Nil: all are.
	First *event.Change
	Err   error
}

// tries is how often an object is put within one batch. After that, the batch itself is repeated.
// Unlike the store and the quarantine, the archive does not try until the deadline. It comes before
// the totals, which do not need it and would have to wait for it.
const tries = 3

var errNotBegun = errors.New("not begun: another object of the batch was refused, or half of the invocation's time was up")

// inMemory is how many bytes of payloads from the payload bucket are in memory at once. A payload
// takes up to three times as much, because the image has it as text in JSON.
const inMemory = 4 << 20

// Keep keeps the old image of every item that was removed after it had expired. It does not keep an
// item that a person removed before that. If a payload is in the payload bucket, the archived image
// has it in its data, as if it had been in the item.
//
// It begins no new object after the first one that fails, or after ctx has ended. So each delivery
// gets as far as the archive does, however slow the archive is, and the next one continues from
// there.
func (k *Keeper) Keep(ctx context.Context, changes []event.Change) (kept Kept) {
	var expired []*event.Change
	for i := range changes {
		if c := &changes[i]; c.Expired {
			expired = append(expired, c)
		}
	}
	parcels := k.parcels(expired)
	todo := parcels
	for failed := false; len(todo) > 0 && !failed && ctx.Err() == nil; {
		todo, failed = k.keepSome(ctx, todo)
	}
	for _, p := range parcels {
		if p.err != nil {
			kept.First, kept.Err = p.items[0], p.err
			break
		}
		kept.Archived += len(p.items)
	}
	return kept
}

// maxFile bounds the lines of a file, before they are compressed.
const maxFile = 1 << 20

// parcel is what one object keeps: one item, or those of a file.
type parcel struct {
	items []*event.Change
	bytes int
	err   error
}

// parcels divides what expired into objects, in order of their first items. In a file, there is no
// item whose payload is in the payload bucket, and nothing that is larger than a file.
func (k *Keeper) parcels(expired []*event.Change) (list []*parcel) {
	var file *parcel
	for _, c := range expired {
		size := len(c.OldImage)
		if !k.Files || c.Old.Payload != nil || size > maxFile {
			list = append(list, &parcel{items: []*event.Change{c}, err: errNotBegun})
			continue
		}
		if file == nil || file.bytes+size > maxFile {
			file = &parcel{err: errNotBegun}
			list = append(list, file)
		}
		file.items, file.bytes = append(file.items, c), file.bytes+size
	}
	return list
}

// keepSome archives these objects in order, and returns those whose payloads did not fit into
// memory. One of those that ask always fits, so each call makes progress.
func (k *Keeper) keepSome(ctx context.Context, todo []*parcel) (later []*parcel, failed bool) {
	room := &payloads.Room{Size: inMemory}
	var stop atomic.Bool
	k.Env.Each(len(todo), 8, func(n int) {
		if stop.Load() || ctx.Err() != nil {
			return
		}
		taken := payloads.Share{Of: room}
		err := k.keep(ctx, todo[n], taken.Fits)
		taken.Leave()
		if todo[n].err = err; err != nil && !errors.Is(err, payloads.ErrNoRoom) {
			stop.Store(true)
		}
	})
	for _, p := range todo {
		if errors.Is(p.err, payloads.ErrNoRoom) {
			p.err = errNotBegun
			later = append(later, p)
		}
	}
	return later, stop.Load()
}

// keep puts one object. It does not try again if the bucket does not exist or may not be used.
func (k *Keeper) keep(ctx context.Context, p *parcel, room func(bytes int64) bool) error {
	name, body, size, err := k.object(ctx, p, room)
	if err != nil {
		return err
	}
	defer payloads.Tidy(size)
	for try := range tries {
		if try > 0 && k.Env.Sleep(ctx, time.Duration(k.Env.Rand()*float64(200*time.Millisecond))) != nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = k.Bucket.Put(ctx, name, body); err == nil || awserr.Denied(err) {
			return err
		}
	}
	return err
}

// object returns the name and the bytes of an object, and how many of them were read from the
// payload bucket.
func (k *Keeper) object(ctx context.Context, p *parcel, room func(bytes int64) bool) (name, body string, size int64, err error) {
	if p.bytes > 0 {
		name, body, err = File(p.items)
		return name, body, 0, err
	}
	body, size, err = k.wholeImage(ctx, p.items[0], room)
	return ObjectName(p.items[0].Old), body, size, err
}

// wholeImage returns the image to archive, with the payload in it, and how many bytes of it were
// read from the payload bucket. If the payload is lost, it returns the image as it is, because
// holding up the shard would not bring the payload back.
func (k *Keeper) wholeImage(ctx context.Context, c *event.Change, room func(bytes int64) bool) (body string, size int64, err error) {
	if c.Old.Payload == nil {
		return c.OldImage, 0, nil
	}
	text, err := k.Payload(ctx, c.Old, room)
	switch {
	case errors.Is(err, tables.ErrPayloadLost):
		k.Lost(c, err)
		return c.OldImage, 0, nil
	case err != nil:
		return "", 0, err
	}
	return withPayload(c.OldImage, text), int64(len(text)), nil
}
