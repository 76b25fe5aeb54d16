package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// archive returns an engine's client, and the name of a bucket with one object of two bytes, "one".
func archive(t *testing.T) (*embedded.S3, *string) {
	client, bucket := embedded.New(embedded.Config{}).S3(), aws.String("archive")
	held(t, stack.CreateArchive(background, client, *bucket))
	_, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("one"), Body: strings.NewReader("{}")})
	held(t, err)
	return client, bucket
}

// TestObjectRefusals has what the contract and the tests of the endpoint leave out: the types of
// the errors, all six checksums, and what only some requests have.
func TestObjectRefusals(t *testing.T) {
	client, bucket := archive(t)
	key, nosuch := aws.String("one"), aws.String("nosuch")
	put := func(in s3.PutObjectInput) error {
		in.Bucket, in.Body = bucket, strings.NewReader("two")
		if in.Key == nil {
			in.Key = key
		}
		_, err := client.PutObject(background, &in)
		return err
	}
	get := func(in s3.GetObjectInput) error {
		_, err := client.GetObject(background, &in)
		return err
	}
	_, headed := client.HeadObject(background, &s3.HeadObjectInput{Bucket: bucket, Key: nosuch})
	_, listed := client.ListObjectsV2(background, &s3.ListObjectsV2Input{Bucket: bucket, Delimiter: aws.String("/")})
	_, deleted := client.DeleteObjects(background,
		&s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: make([]types.ObjectIdentifier, 1001)}})
	for i, c := range []struct {
		err  error
		kind any
		code string
	}{
		{stack.CreateArchive(background, client, *bucket), &types.BucketAlreadyOwnedByYou{}, "BucketAlreadyOwnedByYou"},
		{get(s3.GetObjectInput{Bucket: nosuch, Key: key}), &types.NoSuchBucket{}, "NoSuchBucket"},
		{get(s3.GetObjectInput{Bucket: bucket, Key: nosuch}), &types.NoSuchKey{}, "NoSuchKey"},
		{get(s3.GetObjectInput{Bucket: bucket, Key: key, ExpectedBucketOwner: aws.String("111122223333")}), nil, "AccessDenied"},
		{headed, &types.NotFound{}, "NotFound"},
		{deleted, nil, "MalformedXML"},
		{put(s3.PutObjectInput{Key: nosuch, IfMatch: aws.String(`"0"`)}), nil, "NoSuchKey"},
		{put(s3.PutObjectInput{ContentMD5: aws.String("uKn3Fdu2T9XFbneDxoIKYA==")}), nil, "BadDigest"},
		{put(s3.PutObjectInput{ChecksumCRC32: aws.String("EcqKZw==")}), nil, "BadDigest"},
		{put(s3.PutObjectInput{ChecksumCRC32C: aws.String("EcqKZw==")}), nil, "BadDigest"},
		{put(s3.PutObjectInput{ChecksumCRC64NVME: aws.String("rosUhgp5mIg=")}), nil, "BadDigest"},
		{put(s3.PutObjectInput{ChecksumSHA1: aws.String("98O8HYCOBHMq32eZZczDTKeuNEE=")}), nil, "BadDigest"},
		{put(s3.PutObjectInput{ChecksumSHA256: aws.String("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")}), nil, "BadDigest"},
	} {
		expectCode(t, c.err, c.code)
		var api smithy.APIError
		if errors.As(c.err, &api); c.kind != nil && fmt.Sprintf("%T", api) != fmt.Sprintf("%T", c.kind) {
			t.Errorf("%d: %T, want %T", i, api, c.kind)
		}
	}
	expectUnsupported(t, listed, "embedded: ListObjectsV2: Delimiter is not supported")
	if h, err := client.HeadObject(background, &s3.HeadObjectInput{Bucket: bucket, Key: key}); err != nil || *h.ContentLength != 2 {
		t.Errorf("what was refused changed the object: %v, %v", h, err)
	}
}

// A list has pages, begins after a name and has a prefix, all at once. What is deleted can be put
// again.
func TestListObjects(t *testing.T) {
	client, bucket := archive(t)
	for i := range 25 {
		for _, prefix := range []string{"a/", "b/", "c/"} {
			key := aws.String(fmt.Sprintf("%s%02d", prefix, i))
			_, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: key})
			held(t, err)
			_, err = client.DeleteObject(background, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
			held(t, err)
			_, err = client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: key})
			held(t, err)
		}
	}
	in := &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("b/"), MaxKeys: aws.Int32(10), StartAfter: aws.String("b/02")}
	var keys []string
	for pages := s3.NewListObjectsV2Paginator(client, in); pages.HasMorePages(); {
		out, err := pages.NextPage(background)
		held(t, err)
		for _, o := range out.Contents {
			keys = append(keys, *o.Key)
		}
	}
	if len(keys) != 22 || keys[0] != "b/03" || keys[21] != "b/24" {
		t.Errorf("listed %v", keys)
	}
}
