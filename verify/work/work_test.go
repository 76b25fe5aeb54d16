package work

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/verify/sums"
)

// objects is a bucket in memory.
type objects map[string][]byte

func (o objects) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	text, err := io.ReadAll(in.Body)
	was, there := o[*in.Bucket+"/"+*in.Key]
	switch {
	case in.IfMatch != nil && !there:
		return nil, &types.NoSuchKey{}
	case in.IfNoneMatch != nil && there || in.IfMatch != nil && *in.IfMatch != "etag of "+string(was):
		return nil, &smithy.GenericAPIError{Code: "PreconditionFailed"}
	}
	o[*in.Bucket+"/"+*in.Key] = text
	return &s3.PutObjectOutput{ETag: aws.String("etag of " + string(text))}, err
}

func (o objects) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	text, there := o[*in.Bucket+"/"+*in.Key]
	if !there {
		return nil, &types.NoSuchKey{}
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(text)), ETag: aws.String("etag of " + string(text))}, nil
}

func (o objects) DeleteObject(_ context.Context, in *s3.DeleteObjectInput, _ ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	delete(o, *in.Bucket+"/"+*in.Key)
	return &s3.DeleteObjectOutput{}, nil
}

// A file is replaced only if it is still the one that was read, and made only if there is none.
func TestVersions(t *testing.T) {
	ctx := context.Background()
	f := S3{objects{}, "bucket", "a"}
	write := func(version, text string) (string, error) {
		return f.WriteVersion(ctx, "x", version, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	if _, _, err := f.ReadVersion(ctx, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	first, err := write("", "first")
	must.Succeed(t, err)
	if _, err := write("", "again"); !errors.Is(err, sums.ErrReplaced) {
		t.Errorf("made twice: %v", err)
	}
	second, err := write(first, "second")
	must.Succeed(t, err)
	if _, err := write(first, "late"); !errors.Is(err, sums.ErrReplaced) {
		t.Errorf("replaced by somebody who has not seen the second: %v", err)
	}
	if _, version, err := f.ReadVersion(ctx, "x"); err != nil || version != second || read(t, f, "x") != "second" {
		t.Errorf("%q, %v", version, err)
	}
	must.Succeed(t, f.Remove(ctx, "x"))
	if _, err := write(second, "late"); !errors.Is(err, sums.ErrReplaced) {
		t.Errorf("replaced after it was removed: %v", err)
	}
}

// Both folders behave alike.
func TestFolders(t *testing.T) {
	ctx := context.Background()
	for place, client := range map[string]objects{t.TempDir() + "/new": nil, "s3://bucket/a/b/": {}} {
		f, err := Open(place, func() Client { return client })
		must.Succeed(t, err)
		if _, err := f.Read(ctx, "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", f, err)
		}
		write := func(text string, fail error) error {
			return f.Write(ctx, "x", func(w io.Writer) error { _, err := io.WriteString(w, text); return errors.Join(err, fail) })
		}
		must.Succeed(t, write("first", nil))
		if err := write("sec", io.ErrShortWrite); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", f, err)
		}
		must.Equal(t, read(t, f, "x"), "first", f)
		if err := write("second", nil); err != nil || read(t, f, "x") != "second" {
			t.Errorf("%s: %v", f, err)
		}
		for range 2 {
			if err := f.Remove(ctx, "x"); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
		if client != nil && (f.String() != "s3://bucket/a/b" || len(client) != 0) {
			t.Errorf("%s: %v", f, client)
		}
	}
}

func read(t *testing.T, f sums.Folder, name string) string {
	t.Helper()
	r, err := f.Read(context.Background(), name)
	must.Succeed(t, err)
	defer r.Close()
	text, err := io.ReadAll(r)
	must.Succeed(t, err)
	return string(text)
}

func TestPlacesThatAreNone(t *testing.T) {
	for place, words := range map[string]string{"": "has no name", "s3://": "s3://BUCKET/PREFIX", "s3://bucket": "a prefix of its own",
		"s3://bucket/": "a prefix of its own", "gs://bucket/x": "is not a path"} {
		_, err := Open(place, nil)
		must.Fail(t, err, words)
	}
}
