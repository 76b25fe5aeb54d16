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

// Archive keeps objects. Put returns nil only if the object is proven kept. It does no harm to put
// the same name and bytes again.
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
	_, err := a.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &a.bucket, Key: &name, Body: strings.NewReader(body), ContentType: aws.String("application/json")})
	if err != nil {
		return fmt.Errorf("archive s3://%s/%s: %w", a.bucket, name, awserr.Quiet(err))
	}
	return nil
}

// ArchiveName returns the name of an expired item's object. It consists of the hash of the item's
// key and its digest.
func ArchiveName(item *event.Item) string {
	return "expired/" + item.Key.Hash() + "/" + item.Digest.String() + ".json"
}

// archiveTries is how often an object is put within one batch. After that, the batch itself is
// repeated. Unlike the store and the quarantine, the archive does not try until the deadline. It
// comes before the totals, which can be counted without it, and they would stand still with it.
const archiveTries = 3

var errNotBegun = errors.New("not begun: another object of the batch was refused, or half of the invocation's time was up")

// archive keeps the old image of every item that was removed after its time was over. It does not
// keep what a person removes before that.
//
// It has half of the time that is left, and begins no new object after the first that fails. The
// totals have the other half, and the answer names the first removal that is not kept. So each
// delivery counts all of its changes and gets as far as the archive does, however slow the archive
// is. The next delivery goes on from there.
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

// keep puts one object. It asks only once if the bucket does not exist or may not be used.
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
