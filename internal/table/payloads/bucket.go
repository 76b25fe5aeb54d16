package payloads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/tables"
)

// Objects is what a Bucket needs of S3. A *s3.Client is one.
type Objects interface {
	Getter
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// Bucket keeps the payloads of items whose type has offload. An object never changes: its name has
// the hash of its bytes. A Bucket is safe for concurrent use.
//
// Each request is sent up to three times, and once if only a person can mend what is wrong. The
// text of an error names the object. It holds no payload and no key, so a log may have it.
type Bucket struct {
	Client tables.Objects
	Name   string
}

// Sum is the SHA-256 of a payload's bytes.
type Sum = [sha256.Size]byte

// Folder is what the names of all objects of an event type begin with. A rule of the bucket's
// lifecycle names it.
func Folder(eventType string) string { return eventType + "/" }

// Prefix is what the names of all objects under one key begin with. The key is hashed as in the
// names of the archive.
func Prefix(eventType string, key event.Key) string { return Folder(eventType) + key.Hash() + "/" }

// Name is the name of the object that holds one payload of a key.
func Name(eventType string, key event.Key, sum Sum) string {
	return Prefix(eventType, key) + hex.EncodeToString(sum[:]) + ".json"
}

// ErrMissing says that an object is not there. S3 says so only to a role that may list the bucket.
// Other roles get the error that they may not read the object.
var ErrMissing = errors.New("it is not there")

// Put uploads a payload. It returns nil only if the object is proven stored. It does no harm to
// repeat it: the name says what the bytes are. The bucket's lifecycle counts from the last Put.
func (b *Bucket) Put(ctx context.Context, e env.Env, eventType string, key event.Key, sum Sum, text string) error {
	name := Name(eventType, key, sum)
	err := again(ctx, e, func() error {
		_, err := b.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.Name, Key: &name, Body: body(text),
			ContentType: aws.String("application/json")})
		return err
	})
	return b.failed("store "+name, err)
}

// body returns a text as the body of a request. It hides that a [strings.Reader] can write itself:
// to do so, it makes a copy of all of its text, for each checksum and for the request.
func body(text string) io.ReadSeeker { return struct{ io.ReadSeeker }{strings.NewReader(text)} }

// sumOf returns the SHA-256 of a text, without a copy of it.
func sumOf(text string) (sum Sum) {
	h := sha256.New()
	_, _ = io.Copy(h, struct{ io.Reader }{strings.NewReader(text)}) // neither fails
	h.Sum(sum[:0])
	return sum
}

// Get returns a payload. The error is [ErrMissing] if the object does not exist; then Get does not
// ask again. It never returns a text with a different sum.
func (b *Bucket) Get(ctx context.Context, e env.Env, eventType string, key event.Key, sum Sum) (string, error) {
	return b.GetWithin(ctx, e, eventType, key, sum, func(int64) bool { return true })
}

// GetWithin is Get for callers with little memory. Before anything of the object is read, room is
// called with the size that S3 declares, again at each try. If it returns false, the error is
// [ErrNoRoom].
func (b *Bucket) GetWithin(ctx context.Context, e env.Env, eventType string, key event.Key, sum Sum,
	room func(bytes int64) bool) (text string, err error) {
	name := Name(eventType, key, sum)
	err = again(ctx, e, func() error {
		text, err = fetch(ctx, b.Client, b.Name, name, room)
		if err == nil && sumOf(text) != sum {
			err = errOther
		}
		return err
	})
	if err != nil {
		return "", b.failed("read "+name, err)
	}
	return text, nil
}

// Lost reports whether an error of [Bucket.Get] says that asking again is useless: the object is
// missing, or its bytes are not those that were stored.
func Lost(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, errOther) || errors.As(err, new(tooLarge))
}

// Delete deletes one payload of a key. It returns nil only if the object is proven gone.
func (b *Bucket) Delete(ctx context.Context, e env.Env, eventType string, key event.Key, sum Sum) error {
	name := Name(eventType, key, sum)
	return b.failed("delete "+name, again(ctx, e, func() error {
		_, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &name})
		return err
	}))
}

// Clear deletes every object of a key, and returns how many there were. It returns no error only if
// S3 has said that none is left. It may be repeated.
func (b *Bucket) Clear(ctx context.Context, e env.Env, eventType string, key event.Key) (deleted int, err error) {
	prefix := Prefix(eventType, key)
	for {
		var found []types.ObjectIdentifier
		err := again(ctx, e, func() error {
			out, err := b.Client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &prefix})
			if err != nil {
				return err
			}
			found = found[:0]
			for _, one := range out.Contents {
				found = append(found, types.ObjectIdentifier{Key: one.Key})
			}
			return nil
		})
		if err != nil {
			return deleted, b.failed("list "+prefix, err)
		}
		if len(found) == 0 {
			return deleted, nil
		}
		err = again(ctx, e, func() error {
			out, err := b.Client.DeleteObjects(ctx,
				&s3.DeleteObjectsInput{Bucket: &b.Name, Delete: &types.Delete{Objects: found, Quiet: aws.Bool(true)}})
			if err == nil && len(out.Errors) > 0 { // each object has an answer of its own
				err = &smithy.GenericAPIError{Code: aws.ToString(out.Errors[0].Code)}
			}
			return err
		})
		if err != nil {
			return deleted, b.failed("delete what is in "+prefix, err)
		}
		deleted += len(found)
	}
}

// errOther is returned for an object whose bytes are not those that its name says.
var errOther = errors.New("its bytes are not those that were stored")

// again sends a request until it is answered, up to three times in all.
func again(ctx context.Context, e env.Env, send func() error) error {
	for try := 1; ; try++ {
		err := send()
		switch {
		case err == nil, missing(err), errors.Is(err, ErrNoRoom), Lost(err), awserr.Denied(err), try == tries, ctx.Err() != nil,
			!e.Wait(ctx, try):
			return err
		}
	}
}

// missing reports whether S3 says that there is no such object.
func missing(err error) bool { return awserr.Code(err) == "NoSuchKey" }

// NoBucket reports whether an error of a [Bucket] says that there is no such bucket.
func NoBucket(err error) bool { return awserr.Code(err) == "NoSuchBucket" }

// failed says what could not be done, and in which bucket. [awserr.Denied] still knows the cause.
func (b *Bucket) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if missing(err) {
		err = ErrMissing
	}
	return &failure{b.Name, what, err}
}

type failure struct {
	bucket, what string
	err          error
}

func (f *failure) Error() string {
	why := reason(f.err)
	if awserr.Denied(f.err) {
		why += "; check the name of the bucket, and what the role may do there"
	}
	return fmt.Sprintf("bucket %s: cannot %s: %s", f.bucket, f.what, why)
}

func (f *failure) Unwrap() error { return f.err }
