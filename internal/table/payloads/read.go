package payloads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Max is how many bytes the object of a pointer may have.
const Max = 16 << 20

// maxKey is how long a key may be, in bytes (S3 user guide, "Naming Amazon S3 objects").
const maxKey = 1024

// Getter is what a Reader needs of S3. A *s3.Client is a Getter.
type Getter interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Reader reads objects. It is safe for concurrent use.
type Reader struct {
	Client  Getter
	Buckets []string // only these are read
}

// ErrNoRoom is returned for an object that the caller has no room for now.
var ErrNoRoom = errors.New("there is no room for the object now")

// Allowed returns the refusal of a pointer that can never be followed, or nil. It sends no request.
func (r *Reader) Allowed(p envelope.Pointer) *event.Refusal {
	switch {
	case !slices.Contains(r.Buckets, p.Bucket):
		return event.Poisoned(event.PayloadElsewhere,
			fmt.Sprintf("the payload is in S3 (bucket %s, key %s), and only these buckets may be read: %s; "+
				"name the bucket in parameter PointerBucket of the template, or send the payload itself", p.Bucket, p.Key,
				strings.Join(r.Buckets, ", ")))
	case len(p.Key) > maxKey:
		return event.Poisoned(event.BadEnvelope, fmt.Sprintf("the message points to a key of %d bytes, and S3 has none above %d",
			len(p.Key), maxKey))
	}
	return nil
}

// tries is how often an object is asked for in one batch. After that, its message is delivered
// again.
const tries = 3

// Read returns the text of the object. Before anything of the object is read, room is called with
// the size that S3 declares. If it returns false, the error is [ErrNoRoom]. Every other error is a
// *[event.Refusal].
//
// Only an object that is too large is Poison. One that is missing is Retry: it may be on its way
// from another Region, or a person may bring it back. S3 also calls a missing object forbidden, if
// the reader may not list the bucket. After its last delivery, the message goes to the dead-letter
// queue as it came.
func (r *Reader) Read(ctx context.Context, e env.Env, p envelope.Pointer, room func(bytes int64) bool) (string, error) {
	for try := 1; ; try++ {
		text, err := r.once(ctx, p, room)
		var refusal *event.Refusal
		if err == nil || errors.Is(err, ErrNoRoom) || errors.As(err, &refusal) {
			return text, err
		}
		if missing(err) || awserr.Denied(err) || try == tries || !e.Wait(ctx, try) {
			return "", unread(p, err)
		}
	}
}

// once asks once. An error that is not a refusal is that of S3.
func (r *Reader) once(ctx context.Context, p envelope.Pointer, room func(bytes int64) bool) (string, error) {
	text, err := fetch(ctx, r.Client, p.Bucket, p.Key, room)
	if large := tooLarge(0); errors.As(err, &large) {
		return "",
			event.Poisoned(event.PayloadTooLarge,
				fmt.Sprintf("the object that the message points to (bucket %s, key %s) has %d bytes, and at most %d are read", p.Bucket,
					p.Key, large, Max))
	}
	return text, err
}

// tooLarge is the error for an object that has more than [Max] bytes: how many it has.
type tooLarge int64

func (t tooLarge) Error() string {
	return fmt.Sprintf("it has %d bytes, and at most %d are read", int64(t), Max)
}

// fetch reads an object of at most [Max] bytes, whole or not at all. room is asked with its size
// before anything of it is read. If it says no, the error is [ErrNoRoom].
func fetch(ctx context.Context, client Getter, bucket, key string, room func(bytes int64) bool) (string, error) {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	size := aws.ToInt64(out.ContentLength)
	switch {
	case out.ContentLength == nil || size < 0:
		return "", errors.New("S3 does not say how large it is")
	case size > Max:
		return "", tooLarge(size)
	case !room(size):
		return "", ErrNoRoom
	}
	var text strings.Builder
	text.Grow(int(size))
	n, err := io.Copy(&text, io.LimitReader(out.Body, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came of %d", n, size)
	}
	if err != nil {
		return "", err
	}
	return text.String(), nil
}

// unread says why an object could not be read. A log may hold that. So it leaves out the key.
func unread(p envelope.Pointer, err error) *event.Refusal {
	why := reason(err)
	if why == "AccessDenied" {
		why = "it is not there, or the role may not read it (AccessDenied)"
	}
	return &event.Refusal{Verdict: event.Retry, Reason: event.PayloadUnread,
		Detail: "the object that the message points to could not be read from bucket " + p.Bucket + ": " + why}
}

// reason says why a request failed. It leaves out the text of S3, which names the key of what it
// denies, and the address of the request.
func reason(err error) string {
	var api smithy.APIError
	var sent *url.Error
	switch {
	case errors.As(err, &sent):
		return sent.Err.Error()
	case !errors.As(err, &api):
		return err.Error()
	case api.ErrorCode() == "NoSuchKey":
		return "it is not there (NoSuchKey)"
	}
	return api.ErrorCode()
}
