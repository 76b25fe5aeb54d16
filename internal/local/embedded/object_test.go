package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

func TestObjects(t *testing.T) {
	client := embedded.New(embedded.Config{}).S3()
	bucket := aws.String("archive")
	put := func(key, body string, never *string) error {
		_, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: aws.String(key), Body: strings.NewReader(body),
			IfNoneMatch: never, ContentType: aws.String("application/json")})
		return err
	}
	var noBucket *types.NoSuchBucket
	if err := put("a", "x", nil); !errors.As(err, &noBucket) {
		t.Errorf("no bucket: %v", err)
	}
	_, err := client.CreateBucket(background, &s3.CreateBucketInput{Bucket: bucket})
	held(t, err)
	var owned *types.BucketAlreadyOwnedByYou
	if _, err := client.CreateBucket(background, &s3.CreateBucketInput{Bucket: bucket}); !errors.As(err, &owned) {
		t.Errorf("made again: %v", err)
	}
	held(t, put("expired/1.json", "{}", nil))
	got, err := client.GetObject(background, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("expired/1.json")})
	held(t, err)
	body, err := io.ReadAll(got.Body)
	if err != nil || string(body) != "{}" || *got.ContentType != "application/json" || *got.ETag != `"99914b932bd37a50b983c5e7c90ae93b"` ||
		*got.ContentLength != 2 {
		t.Errorf("got %q, %+v, %v", body, got, err)
	}
	expectCode(t, put("expired/1.json", "[]", aws.String("*")), "PreconditionFailed")
	match := func(key, etag string) error {
		_, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: aws.String(key), Body: strings.NewReader("[]"),
			IfMatch: aws.String(etag)})
		return err
	}
	expectCode(t, match("expired/1.json", `"0"`), "PreconditionFailed")
	expectCode(t, match("nosuch", `"0"`), "NoSuchKey")
	if err := match("expired/1.json", *got.ETag); err != nil {
		t.Error(err)
	}
	held(t, put("expired/1.json", "{}", nil))
	var noKey *types.NoSuchKey
	if _, err := client.GetObject(background, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("nosuch")}); !errors.As(err, &noKey) {
		t.Errorf("get of nothing: %v", err)
	}
	var notFound *types.NotFound
	if _, err := client.HeadObject(background, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("nosuch")}); !errors.As(err, &notFound) {
		t.Errorf("head of nothing: %v", err)
	}
	if h, err := client.HeadObject(background, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("expired/1.json")}); err != nil ||
		*h.ContentLength != 2 {
		t.Errorf("head: %v, %v", h, err)
	}
	_, err = client.GetObject(background, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("expired/1.json"),
		ExpectedBucketOwner: aws.String("111122223333")})
	expectCode(t, err, "AccessDenied")
	for _, in := range []s3.PutObjectInput{{ContentMD5: aws.String("uKn3Fdu2T9XFbneDxoIKYA==")}, {ChecksumCRC32: aws.String("EcqKZw==")},
		{ChecksumCRC32C: aws.String("EcqKZw==")},
		{ChecksumCRC64NVME: aws.String("rosUhgp5mIg=")}, {ChecksumSHA1: aws.String("98O8HYCOBHMq32eZZczDTKeuNEE=")},
		{ChecksumSHA256: aws.String("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")}} {
		in.Bucket, in.Key, in.Body = bucket, aws.String("damaged"), strings.NewReader("two")
		_, err := client.PutObject(background, &in)
		expectCode(t, err, "BadDigest")
	}
	if _, err := client.HeadObject(background, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("damaged")}); !errors.As(err,
		&notFound) {
		t.Errorf("an object with a wrong checksum is stored: %v", err)
	}
	put2, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("whole"), Body: strings.NewReader("two"),
		ChecksumCRC32: aws.String("EcqKZg==")})
	if err != nil || aws.ToString(put2.ChecksumCRC32) != "EcqKZg==" {
		t.Errorf("a right checksum: %+v, %v", put2, err)
	}
	all, err := client.ListBuckets(background, &s3.ListBucketsInput{})
	if err != nil || len(all.Buckets) != 1 || *all.Buckets[0].Name != "archive" || all.Buckets[0].CreationDate.IsZero() {
		t.Errorf("buckets: %+v, %v", all, err)
	}
	_, err = client.ListObjectsV2(background, &s3.ListObjectsV2Input{Bucket: bucket, Delimiter: aws.String("/")})
	expectUnsupported(t, err, "embedded: ListObjectsV2: Delimiter is not supported")
}

// A deleted object is gone, also from lists, and can be put again. Deleting an object that does not
// exist succeeds.
func TestDeleteObjects(t *testing.T) {
	client := embedded.New(embedded.Config{}).S3()
	bucket := aws.String("work")
	_, err := client.CreateBucket(background, &s3.CreateBucketInput{Bucket: bucket})
	held(t, err)
	put := func(keys ...string) {
		for _, key := range keys {
			_, err := client.PutObject(background, &s3.PutObjectInput{Bucket: bucket, Key: &key})
			held(t, err)
		}
	}
	left := func() (keys []string) {
		out, err := client.ListObjectsV2(background, &s3.ListObjectsV2Input{Bucket: bucket})
		held(t, err)
		for _, o := range out.Contents {
			keys = append(keys, *o.Key)
		}
		return keys
	}
	put("a", "b", "c", "d")
	for range 2 {
		_, err := client.DeleteObject(background, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String("b")})
		held(t, err)
	}
	must.Match(t, left(), []string{"a", "c", "d"})
	put("b")
	both := &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("a")}, {Key: aws.String("nosuch")}}}
	out, err := client.DeleteObjects(background, &s3.DeleteObjectsInput{Bucket: bucket, Delete: both})
	if err != nil || len(out.Deleted) != 2 || *out.Deleted[0].Key != "a" || *out.Deleted[1].Key != "nosuch" {
		t.Errorf("%+v, %v", out, err)
	}
	must.Match(t, left(), []string{"b", "c", "d"})
	both.Objects[0].VersionId = aws.String("v1")
	_, err = client.DeleteObjects(background, &s3.DeleteObjectsInput{Bucket: bucket, Delete: both})
	expectUnsupported(t, err, "embedded: DeleteObjects: ObjectIdentifier.VersionId is not supported")
	_, err = client.DeleteObjects(background,
		&s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: make([]types.ObjectIdentifier, 1001)}})
	expectCode(t, err, "MalformedXML")
	var noBucket *types.NoSuchBucket
	if _, err := client.DeleteObject(background, &s3.DeleteObjectInput{Bucket: aws.String("gone"), Key: aws.String("b")}); !errors.As(err,
		&noBucket) {
		t.Errorf("no bucket: %v", err)
	}
}

func TestListObjects(t *testing.T) {
	client := embedded.New(embedded.Config{}).S3()
	bucket := aws.String("archive")
	_, err := client.CreateBucket(background, &s3.CreateBucketInput{Bucket: bucket})
	held(t, err)
	for i := range 25 {
		for _, prefix := range []string{"a/", "b/", "c/"} {
			_, err := client.PutObject(background,
				&s3.PutObjectInput{Bucket: bucket, Key: aws.String(fmt.Sprintf("%s%02d", prefix, i))})
			held(t, err)
		}
	}
	in := &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("b/"), MaxKeys: aws.Int32(10), StartAfter: aws.String("b/02")}
	var keys []string
	for {
		out, err := client.ListObjectsV2(background, in)
		held(t, err)
		for _, o := range out.Contents {
			keys = append(keys, *o.Key)
		}
		if !*out.IsTruncated {
			break
		}
		in.ContinuationToken = out.NextContinuationToken
	}
	if len(keys) != 22 || keys[0] != "b/03" || keys[21] != "b/24" {
		t.Errorf("listed %v", keys)
	}
}
