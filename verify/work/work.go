// Package work keeps the files of a pass where the user says: in a folder on disk or in an S3
// bucket. [Open] reads what the user wrote. [S3] is the folder in a bucket.
package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/verify/sums"
)

// Client is what a folder in a bucket needs of S3. A *s3.Client is one.
type Client interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

const scheme = "s3://"

// inBucket reports whether a place is in a bucket, and returns the bucket and the prefix.
func inBucket(place string) (bucket, prefix string, ok bool) {
	rest, ok := strings.CutPrefix(place, scheme)
	if !ok {
		return "", "", false
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	return bucket, strings.Trim(prefix, "/"), true
}

// Open returns the folder that a user names: a path, or s3://BUCKET/PREFIX. client makes the client
// of S3 if one is needed.
func Open(place string, client func() Client) (sums.Folder, error) {
	bucket, prefix, ok := inBucket(place)
	switch {
	case place == "":
		return nil, errors.New("the work folder has no name: write a path, or s3://BUCKET/PREFIX")
	case !ok && strings.Contains(place, "://"):
		return nil, fmt.Errorf("the work folder %q is not a path, and not of the form s3://BUCKET/PREFIX", place)
	case !ok:
		return sums.Dir(place), nil
	case bucket == "" || prefix == "":
		return nil, fmt.Errorf("the work folder %q is not of the form s3://BUCKET/PREFIX: give each pass a prefix of its own", place)
	}
	return S3{client(), bucket, prefix}, nil
}

// S3 is a folder in a bucket.
type S3 struct {
	Client         Client
	Bucket, Prefix string
}

// String returns s3://BUCKET/PREFIX.
func (s S3) String() string { return scheme + s.Bucket + "/" + s.Prefix }

func (s S3) key(name string) *string { return aws.String(s.Prefix + "/" + name) }

// Write implements [sums.Folder]. The object is put together on disk first, because S3 must know
// its length and checksum. An object is stored whole or not at all.
func (s S3) Write(ctx context.Context, name string, from func(io.Writer) error) error {
	_, err := s.put(ctx, &s3.PutObjectInput{Key: s.key(name)}, name, from)
	return err
}

// WriteVersion implements [sums.Versions], with conditional writes of S3.
func (s S3) WriteVersion(ctx context.Context, name, version string, from func(io.Writer) error) (string, error) {
	in := &s3.PutObjectInput{Key: s.key(name)}
	if in.IfMatch = &version; version == "" {
		in.IfMatch, in.IfNoneMatch = nil, aws.String("*")
	}
	out, err := s.put(ctx, in, name, from)
	switch code := awserr.Code(err); {
	case code == "PreconditionFailed", code == "ConditionalRequestConflict", code == "NoSuchKey" && version != "": // it is removed
		return "", fmt.Errorf("%s in %s: %w", name, s, sums.ErrReplaced)
	case err != nil:
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

func (s S3) put(ctx context.Context, in *s3.PutObjectInput, name string, from func(io.Writer) error) (out *s3.PutObjectOutput, err error) {
	f, err := os.CreateTemp("", "ingot-work-")
	if err != nil {
		return nil, fmt.Errorf("a file to put %s together cannot be made: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := from(f); err != nil {
		return nil, fmt.Errorf("putting %s together: %w", name, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("putting %s together: %w", name, err)
	}
	in.Bucket, in.Body = &s.Bucket, f
	if out, err = s.Client.PutObject(ctx, in); err != nil {
		return nil, fmt.Errorf("putting %s into %s: %w", name, s, err)
	}
	return out, nil
}

// Read implements [sums.Folder].
func (s S3) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	f, _, err := s.ReadVersion(ctx, name)
	return f, err
}

// ReadVersion implements [sums.Versions]. The version is the ETag.
func (s S3) ReadVersion(ctx context.Context, name string) (io.ReadCloser, string, error) {
	out, err := s.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: s.key(name)})
	if gone := (*types.NoSuchKey)(nil); errors.As(err, &gone) {
		return nil, "", fs.ErrNotExist
	}
	if err != nil {
		return nil, "", err
	}
	return out.Body, aws.ToString(out.ETag), nil
}

// Remove implements [sums.Folder].
func (s S3) Remove(ctx context.Context, name string) error {
	_, err := s.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Bucket, Key: s.key(name)})
	return err
}
