// Package archive reads the archive bucket, finds events in it, and takes events out of it.
package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/store"
)

// Client is what this package needs of S3.
type Client interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// Bucket is the archive bucket.
type Bucket struct {
	S3   Client
	Name string
}

// Days are the days on which items were removed, as 2026-03-01. An empty one has no bound. Objects
// have no day, so they are read only if there is no bound.
type Days struct {
	From, To string
	Files    bool // no objects
}

func (d Days) has(day string) bool {
	return (d.From == "" || day >= d.From) && (d.To == "" || day <= d.To)
}

// Item is an item as the archive has it.
type Item struct {
	Name  string // of its file or object
	Image string // canonical JSON of DynamoDB's typed values
	Event *event.Item
}

// Read reads the archive: the files of some days by name, and then, without a bound, the objects.
// An item that is there twice is read once: batches that were delivered again overlap. It needs 16
// bytes of memory for each item. An error is about one file or object, and the next one may be
// good.
func (b Bucket) Read(ctx context.Context, days Days) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		seen := map[[16]byte]bool{}
		for item, err := range b.all(ctx, days) {
			if err == nil {
				sum := sha256.Sum256([]byte(archive.ObjectName(item.Event)))
				if seen[[16]byte(sum[:])] {
					continue
				}
				seen[[16]byte(sum[:])] = true
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// all is Read without looking for what is there twice.
func (b Bucket) all(ctx context.Context, days Days) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for name, err := range b.names(ctx, days) {
			if err != nil {
				yield(Item{}, err)
				return
			}
			for item, err := range b.read(ctx, name) {
				if !yield(item, err) {
					return
				}
			}
		}
	}
}

// names lists the files of some days, and without a bound the objects too.
func (b Bucket) names(ctx context.Context, days Days) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lists := []s3.ListObjectsV2Input{{Bucket: &b.Name, Prefix: aws.String("dt=")}}
		if days.From != "" {
			lists[0].StartAfter = aws.String("dt=" + days.From)
		}
		if days == (Days{}) {
			lists = append(lists, s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: aws.String("expired/")})
		}
		for i := range lists {
			pages := s3.NewListObjectsV2Paginator(b.S3, &lists[i])
			for pages.HasMorePages() {
				out, err := pages.NextPage(ctx)
				if err != nil {
					yield("", fmt.Errorf("bucket %s: %w", b.Name, awserr.Quiet(err)))
					return
				}
				for _, o := range out.Contents {
					name := aws.ToString(o.Key)
					if days.Files && !archive.IsFile(name) {
						continue
					}
					if day := dayOf(name); day != "" && !days.has(day) {
						if days.To != "" && day > days.To {
							return
						}
						continue
					}
					if !yield(name, nil) {
						return
					}
				}
			}
		}
	}
}

// maxObject bounds what is read of an object. A payload has up to 16 MiB, and the image has it as
// text in JSON.
const maxObject = 64 << 20

// Object reads an object whole, as it is or as one of its versions was.
func (b Bucket) Object(ctx context.Context, name, version string) (body, etag string, err error) {
	in := &s3.GetObjectInput{Bucket: &b.Name, Key: &name}
	if version != "" {
		in.VersionId = &version
	}
	out, err := b.S3.GetObject(ctx, in)
	if err != nil {
		return "", "", err
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, maxObject))
	return string(text), aws.ToString(out.ETag), err
}

// failed says which file or object an error is about.
func (b Bucket) failed(name string, err error) error {
	return fmt.Errorf("s3://%s/%s: %w", b.Name, name, err)
}

// read reads the items of a file or of an object.
func (b Bucket) read(ctx context.Context, name string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		body, _, err := b.Object(ctx, name, "")
		if err != nil {
			yield(Item{Name: name}, b.failed(name, awserr.Quiet(err)))
			return
		}
		for image, err := range Images(name, strings.NewReader(body)) {
			item := Item{Name: name, Image: image}
			if err == nil {
				item.Event, err = Decode(image)
			}
			if err != nil {
				err = b.failed(name, err)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// Decode reads an image, which is what a stream record has of an item.
func Decode(image string) (*event.Item, error) {
	record, err := event.ParseDocument(`{"eventSourceARN":"archive","eventName":"REMOVE","dynamodb":{` +
		`"SequenceNumber":"000000000000000000001","ApproximateCreationDateTime":1,"Keys":{},"OldImage":` + image + `}}`)
	if err != nil {
		return nil, err
	}
	change, err := store.ReadRecord(record.Root(), "")
	if err == nil && change.Old == nil {
		err = errors.New("it holds no event")
	}
	if err != nil {
		return nil, err
	}
	return change.Old, nil
}

// Find returns what the archive has under keys, once for each file and object, and how many of
// those it has read. That there is nothing does not mean that there never was. The error names what
// cannot be read; the rest is read.
func (b Bucket) Find(ctx context.Context, keys map[event.Key]bool, days Days) (list []Item, files int, err error) {
	last, broken := "", error(nil)
	for item, err := range b.all(ctx, days) {
		if item.Name != last {
			last, files = item.Name, files+1
		}
		switch {
		case err != nil:
			broken = errors.Join(broken, err)
		case keys[item.Event.Key]:
			list = append(list, item)
		}
	}
	return list, files, broken
}

// HasFiles reports whether there is a file.
func (b Bucket) HasFiles(ctx context.Context) (bool, error) {
	for _, err := range b.names(ctx, Days{Files: true}) {
		return err == nil, err
	}
	return false, nil
}

// Erase takes events out of all files of some days, and returns their names. A file is written
// anew on condition that it is as it was read. It stays, even if it is empty then: a batch that is
// delivered again would put it again. Objects are not touched. The error names the files that could
// not be read or written, and may still have an event. The others are done.
func (b Bucket) Erase(ctx context.Context, keys []event.Key, days Days) (names []string, err error) {
	days.Files = true
	var broken error
	for name, err := range b.names(ctx, days) {
		if err != nil {
			return names, errors.Join(broken, err)
		}
		var odd error
		changed, err := b.rewrite(ctx, name, func(image string) bool {
			key, err := keyOf(image)
			if err != nil {
				odd = b.failed(name, err)
			}
			return slices.Contains(keys, key)
		})
		switch {
		case changed:
			names = append(names, name)
		case awserr.Denied(err), ctx.Err() != nil:
			return names, errors.Join(broken, err)
		}
		broken = errors.Join(broken, err, odd)
	}
	return names, broken
}

// keyOf returns the key of an image. Another version may have written an image that this one cannot
// decode.
func keyOf(image string) (event.Key, error) {
	doc, err := event.ParseDocument(image)
	if err != nil {
		return event.Key{}, err
	}
	text := func(name string) string { return doc.Root().Member(name).Member("S").Text() }
	return event.Key{PK: text("PK"), SK: text("SK")}, nil
}

// rewriteTries is how often a file is read again that has changed meanwhile.
const rewriteTries = 5

func (b Bucket) rewrite(ctx context.Context, name string, drop func(string) bool) (changed bool, err error) {
	for range rewriteTries {
		body, etag, err := b.Object(ctx, name, "")
		if err != nil {
			return false, b.failed(name, awserr.Quiet(err))
		}
		rest, dropped, err := without(name, body, drop)
		if err != nil || dropped == 0 {
			return false, err
		}
		_, err = b.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.Name, Key: &name, Body: strings.NewReader(rest), IfMatch: &etag,
			ContentType: aws.String("application/gzip")})
		if err == nil {
			return true, nil
		}
		if code := awserr.Code(err); code != "PreconditionFailed" && code != "ConditionalRequestConflict" {
			return false, b.failed(name, awserr.Quiet(err))
		}
	}
	return false, fmt.Errorf("s3://%s/%s changes all the time: run the command again", b.Name, name)
}
