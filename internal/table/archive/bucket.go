package archive

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Bucket keeps objects. Put returns nil only if the object is proven kept. An object that is there
// stays as it is: it was put by an earlier delivery, and somebody may have taken an item out of it
// since.
type Bucket interface {
	Put(ctx context.Context, name, body string) error
}

// Uploader is what a bucket needs of S3. A *s3.Client is an Uploader.
type Uploader interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// InS3 returns a bucket of S3.
func InS3(client Uploader, bucket string) Bucket { return &inS3{client, bucket} }

type inS3 struct {
	client Uploader
	bucket string
}

func (a *inS3) Put(ctx context.Context, name, body string) error {
	// This hides the reader's WriteTo, which would copy the whole text.
	in := &s3.PutObjectInput{Bucket: &a.bucket, Key: &name, Body: struct{ io.ReadSeeker }{strings.NewReader(body)},
		ContentType: aws.String("application/json"), IfNoneMatch: aws.String("*")}
	if IsFile(name) {
		in.ContentType = aws.String("application/gzip")
	}
	_, err := a.client.PutObject(ctx, in)
	if awserr.Code(err) == "PreconditionFailed" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("archive s3://%s/%s: %w", a.bucket, name, awserr.Quiet(err))
	}
	return nil
}
