package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/awserr"
)

// Archive keeps objects. Put returns nil only when the object is proven kept; putting the same name and
// bytes again is harmless.
type Archive interface {
	Put(ctx context.Context, name, body string) error
}

// Uploader is what the archive asks of S3. *s3.Client satisfies it.
type Uploader interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// NewArchive makes an archive in a bucket.
func NewArchive(client Uploader, bucket string) Archive { return &s3Archive{client, bucket} }

type s3Archive struct {
	client Uploader
	bucket string
}

func (a *s3Archive) Put(ctx context.Context, name, body string) error {
	_, err := a.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &a.bucket, Key: &name, Body: strings.NewReader(body), ContentType: aws.String("application/json")})
	if err != nil {
		return fmt.Errorf("archive s3://%s/%s: %w", a.bucket, name, awserr.Quiet(err))
	}
	return nil
}

// ArchiveName is the name of an expired item's object: the hash of its key and its digest.
func ArchiveName(item *event.Item) string {
	return "expired/" + item.Key.Hash() + "/" + item.Digest.String() + ".json"
}

// archiveTries is how often an object is put within one batch; the batch itself is repeated after that. Unlike the
// store and the quarantine, the archive does not ask until the deadline: it comes before the totals, and they would
// stand still with it, although they can be counted without it.
const archiveTries = 3

var errNotBegun = errors.New("not begun: another object of the batch was refused, or half of the invocation's time was up")

// archive keeps the old image of every item that was removed after its time was over. What a person removes before
// that is not kept.
//
// It has half of the time that is left, and begins no object after the first that fails: the totals have the other
// half, and the answer names the first removal that is not kept. So each delivery counts all of its changes and gets
// as far as the archive does, however slow that is, and the next one goes on from there.
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
	errs := slices.Repeat([]error{errNotBegun}, len(expired))
	var failed atomic.Bool
	b.env.Each(len(expired), 8, func(i int) {
		if failed.Load() || archiving.Err() != nil {
			return
		}
		if errs[i] = b.keep(archiving, expired[i]); errs[i] != nil {
			failed.Store(true)
		}
	})
	for i, err := range errs {
		if err != nil {
			b.fail(ctx, expired[i].Sequence, "expired item not archived", err)
			return
		}
		b.rep.Archived++
	}
}

// keep puts one object. A bucket that is not there, or may not be used, is asked once.
func (b *streamBatch) keep(ctx context.Context, c *event.Change) (err error) {
	for try := range archiveTries {
		if try > 0 && b.env.Sleep(ctx, time.Duration(b.env.Rand()*float64(200*time.Millisecond))) != nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = b.Archive.Put(ctx, ArchiveName(c.Old), c.OldImage); err == nil || awserr.Denied(err) {
			return err
		}
	}
	return err
}
