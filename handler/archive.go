package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/tables"
)

// Archive keeps objects. Put returns nil only if the object is proven kept. An object that is there
// stays as it is: it was put by an earlier delivery, and somebody may have taken an item out of it
// since.
type Archive interface {
	Put(ctx context.Context, name, body string) error
}

// Uploader is what the archive needs of S3. A *s3.Client is an Uploader.
type Uploader interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// NewArchive makes an [Archive] in a bucket.
func NewArchive(client Uploader, bucket string) Archive { return &s3Archive{client, bucket} }

type s3Archive struct {
	client Uploader
	bucket string
}

func (a *s3Archive) Put(ctx context.Context, name, body string) error {
	// This hides the reader's WriteTo, which would copy the whole text.
	in := &s3.PutObjectInput{Bucket: &a.bucket, Key: &name, Body: struct{ io.ReadSeeker }{strings.NewReader(body)},
		ContentType: aws.String("application/json"), IfNoneMatch: aws.String("*")}
	if archive.IsFile(name) {
		in.ContentType = aws.String("application/gzip")
	}
	_, err := a.client.PutObject(ctx, in)
	if awserr.Code(err) == "PreconditionFailed" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("archive s3://%s/%s: %w", a.bucket, name, awserr.Quiet(err))
	}
	return nil
}

// archiveTries is how often an object is put within one batch. After that, the batch itself is
// repeated. Unlike the store and the quarantine, the archive does not try until the deadline. It
// comes before the totals, which do not need it and would have to wait for it.
const archiveTries = 3

var errNotBegun = errors.New("not begun: another object of the batch was refused, or half of the invocation's time was up")

// archivedRoom is how many bytes of payloads from the payload bucket are in memory at once. A
// payload takes up to three times as much, because the image has it as text in JSON.
const archivedRoom = 4 << 20

// archive keeps the old image of every item that was removed after it had expired. It does not keep
// an item that a person removed before that. If a payload is in the payload bucket, the archived
// image has it in its data, as if it had been in the item.
//
// It may use half of the time that is left, and it begins no new object after the first one that
// fails. The totals have the other half. The answer names the first removal that is not archived.
// So each delivery counts all of its changes and gets as far as the archive does, however slow the
// archive is. The next delivery continues from there.
func (b *streamBatch) archive(ctx context.Context) {
	if b.Archive == nil {
		return
	}
	archiving, stop := b.short(ctx, func(left time.Duration) time.Duration { return left / 2 })
	defer stop()
	var expired []*event.Change
	for i := range b.changes {
		if c := &b.changes[i]; c.Expired {
			expired = append(expired, c)
		}
	}
	parcels := b.parcels(expired)
	todo := parcels
	for failed := false; len(todo) > 0 && !failed && archiving.Err() == nil; {
		todo, failed = b.keepSome(archiving, todo)
	}
	b.rep.PayloadsLost = int(b.lost.Load())
	for _, p := range parcels {
		if p.err != nil {
			b.fail(ctx, p.items[0].Sequence, "expired item not archived", p.err)
			return
		}
		b.rep.Archived += len(p.items)
	}
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
func (b *streamBatch) parcels(expired []*event.Change) (list []*parcel) {
	var file *parcel
	for _, c := range expired {
		size := len(c.OldImage)
		if !b.ArchiveFiles || c.Old.Payload != nil || size > maxFile {
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
func (b *streamBatch) keepSome(ctx context.Context, todo []*parcel) (later []*parcel, failed bool) {
	room := &room{size: archivedRoom}
	var stop atomic.Bool
	b.env.Each(len(todo), 8, func(n int) {
		if stop.Load() || ctx.Err() != nil {
			return
		}
		taken := share{of: room}
		err := b.keep(ctx, todo[n], taken.fits)
		taken.leave()
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
func (b *streamBatch) keep(ctx context.Context, p *parcel, room func(bytes int64) bool) error {
	name, body, size, err := b.object(ctx, p, room)
	if err != nil {
		return err
	}
	defer payloads.Tidy(size)
	for try := range archiveTries {
		if try > 0 && b.env.Sleep(ctx, time.Duration(b.env.Rand()*float64(200*time.Millisecond))) != nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = b.Archive.Put(ctx, name, body); err == nil || awserr.Denied(err) {
			return err
		}
	}
	return err
}

// object returns the name and the bytes of an object, and how many of them were read from the
// payload bucket.
func (b *streamBatch) object(ctx context.Context, p *parcel, room func(bytes int64) bool) (name, body string, size int64, err error) {
	if p.bytes > 0 {
		name, body, err = archive.File(p.items)
		return name, body, 0, err
	}
	body, size, err = b.wholeImage(ctx, p.items[0], room)
	return archive.ObjectName(p.items[0].Old), body, size, err
}

// wholeImage returns the image to archive, with the payload in it, and how many bytes of it were
// read from the payload bucket. If the payload is lost, it returns the image as it is, because
// holding up the shard would not bring the payload back.
func (b *streamBatch) wholeImage(ctx context.Context, c *event.Change, room func(bytes int64) bool) (body string, size int64, err error) {
	if c.Old.Payload == nil {
		return c.OldImage, 0, nil
	}
	text, err := b.tables.PayloadWithin(ctx, c.Old, room)
	switch {
	case errors.Is(err, tables.ErrPayloadLost):
		b.lost.Add(1)
		if b.Log != nil {
			b.Log.LogAttrs(ctx, slog.LevelError,
				"an expired item is archived without its payload, because the payload is not in its bucket any more",
				slog.String("item", keyText(c.Key, b.pipeline.HidesKeys(c.Old.Type))), slog.String("type", c.Old.Type),
				slog.Any("error", err))
		}
		return c.OldImage, 0, nil
	case err != nil:
		return "", 0, err
	}
	return withPayload(c.OldImage, text), int64(len(text)), nil
}

// quotedJSON writes a JSON text as the inside of a JSON string, in the spelling of
// [keys.Canonical]. A JSON text contains no other characters that such a string escapes.
var quotedJSON = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// withPayload returns an image, which is canonical JSON, with the whole payload in place of the
// part that the item has kept. The result is the image of an item with the payload in it.
// withPayload makes no further copy, because the payload may have 16 MiB.
func withPayload(image, payload string) string {
	doc, err := event.ParseDocument(image)
	if err != nil { // cannot happen: it was made from a document
		return image
	}
	escapes := 0
	for _, c := range []string{`"`, `\`, "\t", "\n", "\r"} {
		escapes += strings.Count(payload, c)
	}
	var b strings.Builder
	b.Grow(len(image) + len(payload) + escapes)
	for name := range doc.Root().Members() {
		switch {
		case name == itemform.Payload:
			continue
		case b.Len() == 0:
			b.WriteByte('{')
		default:
			b.WriteByte(',')
		}
		if name != "data" {
			b.WriteString(doc.Root().Spelled(name))
			continue
		}
		b.WriteString(`"data":{"S":"`)
		_, _ = quotedJSON.WriteString(&b, payload) // a Builder takes everything
		b.WriteString(`"}`)
	}
	b.WriteByte('}')
	return b.String()
}
