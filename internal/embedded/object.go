package embedded

import (
	"bytes"
	"context"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// buckets is the S3 part of the engine.
type buckets struct {
	mu     sync.RWMutex
	e      *Engine
	byName map[string]*bucket
}

func newBuckets(e *Engine) buckets { return buckets{e: e, byName: map[string]*bucket{}} }

type bucket struct {
	objects map[string]*object
	keys    list[string]
}

type object struct {
	body        []byte
	etag        string
	contentType string
	metadata    map[string]string
	modified    time.Time
}

// S3 has the method signatures of *s3.Client.
type S3 struct{ e *Engine }

var (
	createBucket  = operation{"S3", "CreateBucket", "Bucket CreateBucketConfiguration"}
	putObject     = operation{"S3", "PutObject", "Bucket Key Body ContentLength ContentType Metadata IfNoneMatch ExpectedBucketOwner"}
	getObject     = operation{"S3", "GetObject", "Bucket Key ExpectedBucketOwner"}
	headObject    = operation{"S3", "HeadObject", "Bucket Key ExpectedBucketOwner"}
	listObjectsV2 = operation{"S3", "ListObjectsV2", "Bucket Prefix MaxKeys ContinuationToken StartAfter ExpectedBucketOwner"}
)

// CreateBucket makes a bucket, or fails with BucketAlreadyOwnedByYou.
func (c *S3) CreateBucket(ctx context.Context, in *s3.CreateBucketInput, _ ...func(*s3.Options)) (*s3.CreateBucketOutput, error) {
	return call(ctx, c.e, createBucket, in, c.e.buckets.create)
}

// PutObject stores an object whole; IfNoneMatch "*" refuses to replace one.
func (c *S3) PutObject(ctx context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return call(ctx, c.e, putObject, in, c.e.buckets.put)
}

// GetObject reads an object.
func (c *S3) GetObject(ctx context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return call(ctx, c.e, getObject, in, c.e.buckets.get)
}

// HeadObject describes an object; one that is not there is NotFound, not NoSuchKey.
func (c *S3) HeadObject(ctx context.Context, in *s3.HeadObjectInput, _ ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	return call(ctx, c.e, headObject, in, c.e.buckets.head)
}

// ListObjectsV2 lists keys in byte order, up to 1,000 at a time.
func (c *S3) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	return call(ctx, c.e, listObjectsV2, in, c.e.buckets.list)
}

func (bs *buckets) create(in *s3.CreateBucketInput) (*s3.CreateBucketOutput, error) {
	name := aws.ToString(in.Bucket)
	if len(name) < 3 || len(name) > 63 {
		return nil, apiError("InvalidBucketName", "The specified bucket is not valid.")
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.byName[name] != nil {
		return nil, &types.BucketAlreadyOwnedByYou{Message: aws.String("Your previous request to create the named bucket succeeded and you already own it.")}
	}
	bs.byName[name] = &bucket{objects: map[string]*object{}}
	return &s3.CreateBucketOutput{Location: aws.String("/" + name)}, nil
}

func (bs *buckets) bucket(name, owner *string) (*bucket, error) {
	b := bs.byName[aws.ToString(name)]
	if b == nil {
		return nil, &types.NoSuchBucket{Message: aws.String("The specified bucket does not exist")}
	}
	if owner != nil && *owner != bs.e.cfg.Account {
		return nil, apiError("AccessDenied", "Access Denied")
	}
	return b, nil
}

func (bs *buckets) put(in *s3.PutObjectInput) (*s3.PutObjectOutput, error) {
	key := aws.ToString(in.Key)
	if key == "" || len(key) > 1024 {
		return nil, apiError("KeyTooLongError", "An object key must have 1 to 1024 bytes")
	}
	if in.IfNoneMatch != nil && *in.IfNoneMatch != "*" {
		return nil, unsupported("PutObject", "IfNoneMatch other than *")
	}
	o := &object{contentType: "application/octet-stream", metadata: maps.Clone(in.Metadata), modified: bs.e.now().Truncate(time.Second)}
	if in.Body != nil {
		var err error
		if o.body, err = io.ReadAll(in.Body); err != nil {
			return nil, err
		}
	}
	if in.ContentLength != nil && *in.ContentLength != int64(len(o.body)) {
		return nil, apiError("IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header")
	}
	if in.ContentType != nil {
		o.contentType = *in.ContentType
	}
	o.etag = `"` + hexMD5(o.body) + `"`
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	if b.objects[key] == nil {
		at, _ := b.find(key)
		b.keys.insert(at, key)
	} else if in.IfNoneMatch != nil {
		return nil, apiError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	}
	b.objects[key] = o
	return &s3.PutObjectOutput{ETag: aws.String(o.etag)}, nil
}

func (b *bucket) find(key string) (position, bool) {
	return b.keys.find(func(k string) int { return compareText(k, key) })
}

func (bs *buckets) get(in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	o := b.objects[aws.ToString(in.Key)]
	if o == nil {
		return nil, &types.NoSuchKey{Message: aws.String("The specified key does not exist.")}
	}
	return &s3.GetObjectOutput{
		Body: io.NopCloser(bytes.NewReader(o.body)), ContentLength: aws.Int64(int64(len(o.body))), ContentType: aws.String(o.contentType),
		ETag: aws.String(o.etag), LastModified: aws.Time(o.modified), Metadata: maps.Clone(o.metadata),
	}, nil
}

func (bs *buckets) head(in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, &types.NotFound{Message: aws.String("Not Found")} // a HEAD answer has no body that could say more
	}
	o := b.objects[aws.ToString(in.Key)]
	if o == nil {
		return nil, &types.NotFound{Message: aws.String("Not Found")}
	}
	return &s3.HeadObjectOutput{
		ContentLength: aws.Int64(int64(len(o.body))), ContentType: aws.String(o.contentType),
		ETag: aws.String(o.etag), LastModified: aws.Time(o.modified), Metadata: maps.Clone(o.metadata),
	}, nil
}
