package handler

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/archive"
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
func NewArchive(client Uploader, bucket string) Archive { return archive.InS3(client, bucket) }

// archive keeps what has expired. It may use half of the time that is left, and the totals have the
// other half. So each delivery counts all of its changes, however slow the archive is.
func (b *streamBatch) archive(ctx context.Context) {
	if b.Archive == nil {
		return
	}
	archiving, stop := b.short(ctx, func(left time.Duration) time.Duration { return left / 2 })
	defer stop()
	k := archive.Keeper{Bucket: b.Archive, Files: b.ArchiveFiles, Payload: b.tables.Puts.PayloadWithin, Env: b.env,
		Lost: func(c *event.Change, err error) { b.archivedWithout(ctx, c, err) }}
	kept := k.Keep(archiving, b.changes)
	b.rep.Archived, b.rep.PayloadsLost = kept.Archived, int(b.lost.Load())
	if kept.Err != nil {
		b.fail(ctx, kept.First.Sequence, "expired item not archived", kept.Err)
	}
}

// archivedWithout notes an item whose payload is lost.
func (b *streamBatch) archivedWithout(ctx context.Context, c *event.Change, err error) {
	b.lost.Add(1)
	if b.Log != nil {
		b.Log.LogAttrs(ctx, slog.LevelError,
			"an expired item is archived without its payload, because the payload is not in its bucket any more",
			slog.String("item", keyText(c.Key, b.pipeline.HidesKeys(c.Old.Type))), slog.String("type", c.Old.Type),
			slog.Any("error", err))
	}
}
