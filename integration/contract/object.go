package contract

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/local/stack"
)

func files(t *testing.T, h *Harness) {
	bucket := h.Name(t)
	held(t, stack.CreateArchive(ctx, h.S3, bucket))
	put := func(bucket, name, body string) (string, error) {
		out, err := h.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &name, Body: strings.NewReader(body),
			ContentType: aws.String("application/json")})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	}
	h.run(t, "an object with a wrong checksum is refused", func(t *testing.T) {
		for _, in := range []s3.PutObjectInput{{ContentMD5: aws.String("uKn3Fdu2T9XFbneDxoIKYA==")},
			{ChecksumCRC32: aws.String("EcqKZw==")}, {ChecksumSHA256: aws.String("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")}} {
			in.Bucket, in.Key, in.Body = &bucket, aws.String("damaged"), strings.NewReader("two")
			_, err := h.S3.PutObject(ctx, &in)
			refused(t, err, "BadDigest")
		}
		_, err := h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("damaged")})
		refused(t, err, "NoSuchKey")
	})
	h.run(t, "an object is kept, and kept again", func(t *testing.T) {
		const name, body = "expired/00ff/aabb.json", `{"PK":{"S":"ü"}}`
		first, err := put(bucket, name, body)
		held(t, err)
		second, err := put(bucket, name, body)
		if err != nil || second != first || len(first) != 34 {
			t.Errorf("tags %q and %q, %v", first, second, err)
		}
		out, err := h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: aws.String(name)})
		held(t, err)
		defer out.Body.Close()
		got, err := io.ReadAll(out.Body)
		if err != nil || string(got) != body || aws.ToString(out.ContentType) != "application/json" {
			t.Errorf("%q of type %s, %v", got, aws.ToString(out.ContentType), err)
		}
		list, err := h.S3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("expired/00ff/")})
		if err != nil || len(list.Contents) != 1 || aws.ToString(list.Contents[0].Key) != name {
			t.Errorf("list: %v, %v", list, err)
		}
	})
	h.run(t, "an object is put once, and changed as it was read", func(t *testing.T) {
		name := aws.String("dt=2026-03-01/one.json.gz")
		once := func(body string) error {
			_, err := h.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: name, Body: strings.NewReader(body),
				IfNoneMatch: aws.String("*")})
			return err
		}
		held(t, once("one"))
		refused(t, once("two"), "PreconditionFailed")
		read := func() (string, *string) {
			out, err := h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: name})
			held(t, err)
			defer out.Body.Close()
			text, err := io.ReadAll(out.Body)
			held(t, err)
			return string(text), out.ETag
		}
		was, etag := read()
		change := func() error {
			_, err := h.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: name, Body: strings.NewReader("three"), IfMatch: etag})
			return err
		}
		held(t, change())
		refused(t, change(), "PreconditionFailed")
		if is, _ := read(); was != "one" || is != "three" {
			t.Errorf("%q, then %q", was, is)
		}
	})
	h.run(t, "listed in the order of their names", func(t *testing.T) {
		for _, name := range []string{"order/b", "order/a", "order/Z", "order/a/1"} {
			if _, err := put(bucket, name, "{}"); err != nil {
				t.Fatal(err)
			}
		}
		list, err := h.S3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("order/")})
		held(t, err)
		var names []string
		for _, o := range list.Contents {
			names = append(names, aws.ToString(o.Key))
		}
		if fmt.Sprint(names) != "[order/Z order/a order/a/1 order/b]" {
			t.Errorf("listed %v", names)
		}
	})
	h.run(t, "what is deleted is gone", func(t *testing.T) {
		for _, name := range []string{"gone/1", "gone/2 ü&<", "gone/3", "gone/4"} {
			if _, err := put(bucket, name, "{}"); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // deleting what is not there succeeds
			if _, err := h.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("gone/1")}); err != nil {
				t.Fatal(err)
			}
		}
		several := &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("gone/2 ü&<")}, {Key: aws.String("gone/3")},
			{Key: aws.String("gone/never")}}}
		out, err := h.S3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &bucket, Delete: several})
		if err != nil || len(out.Deleted) != 3 || len(out.Errors) != 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		list, err := h.S3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("gone/")})
		if err != nil || len(list.Contents) != 1 || aws.ToString(list.Contents[0].Key) != "gone/4" {
			t.Errorf("left: %v, %v", list, err)
		}
		_, err = h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("gone/3")})
		refused(t, err, "NoSuchKey")
		_, err = h.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucket + "-gone"), Key: aws.String("x")})
		refused(t, err, "NoSuchBucket")
	})
	h.run(t, "what is not there", func(t *testing.T) {
		_, err := put(bucket+"-gone", "x", "{}")
		refused(t, err, "NoSuchBucket")
		_, err = h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("gone")})
		refused(t, err, "NoSuchKey")
	})
}
