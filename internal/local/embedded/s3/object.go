package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Buckets is the S3 part of the engine.
type Buckets struct {
	mu     sync.RWMutex
	core   *api.Core
	byName map[string]*bucket
	log    *api.Log // nil: nothing outlives this process
}

// New returns [Buckets] without any bucket.
func New(c *api.Core) *Buckets {
	return &Buckets{core: c, byName: map[string]*bucket{}, log: c.NewLog()}
}

// unlock ends a call that may have changed something.
func (bs *Buckets) unlock() {
	bs.log.Flush()
	bs.mu.Unlock()
}

type bucket struct {
	created time.Time
	objects map[string]*object
	keys    api.List[string]
}

type object struct {
	body        []byte
	etag        string
	contentType string
	metadata    map[string]string
	modified    time.Time
}

// Client has the method signatures of *s3.Client.
type Client struct{ bs *Buckets }

// Client returns the client of the buckets.
func (bs *Buckets) Client() *Client { return &Client{bs} }

var (
	listBuckets  = api.Op("S3", "ListBuckets", "Prefix")
	createBucket = api.Op("S3", "CreateBucket", "Bucket CreateBucketConfiguration")
	putObject    = api.Op("S3", "PutObject",
		"Bucket Key Body ContentLength ContentMD5 ContentType Metadata IfMatch IfNoneMatch ExpectedBucketOwner "+
			"ChecksumCRC32 ChecksumCRC32C ChecksumCRC64NVME ChecksumSHA1 ChecksumSHA256")
	getObject     = api.Op("S3", "GetObject", "Bucket Key ExpectedBucketOwner")
	headObject    = api.Op("S3", "HeadObject", "Bucket Key ExpectedBucketOwner")
	deleteObject  = api.Op("S3", "DeleteObject", "Bucket Key ExpectedBucketOwner")
	deleteObjects = api.Op("S3", "DeleteObjects", "Bucket Delete ExpectedBucketOwner")
	listObjectsV2 = api.Op("S3", "ListObjectsV2", "Bucket Prefix MaxKeys ContinuationToken StartAfter ExpectedBucketOwner")
)

// CreateBucket makes a bucket, or fails with BucketAlreadyOwnedByYou.
func (c *Client) CreateBucket(ctx context.Context, in *s3.CreateBucketInput, _ ...func(*s3.Options)) (*s3.CreateBucketOutput, error) {
	return api.Call(ctx, c.bs.core, createBucket, in, c.bs.create)
}

// ListBuckets lists all buckets by name.
func (c *Client) ListBuckets(ctx context.Context, in *s3.ListBucketsInput, _ ...func(*s3.Options)) (*s3.ListBucketsOutput, error) {
	return api.Call(ctx, c.bs.core, listBuckets, in, c.bs.listBuckets)
}

// PutObject stores a whole object. With IfNoneMatch "*" it refuses to replace one, and with IfMatch
// to replace another one than that of the ETag.
func (c *Client) PutObject(ctx context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return api.Call(ctx, c.bs.core, putObject, in, c.bs.put)
}

// GetObject reads an object.
func (c *Client) GetObject(ctx context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return api.Call(ctx, c.bs.core, getObject, in, c.bs.get)
}

// HeadObject describes an object. If there is none, the error is NotFound, not NoSuchKey.
func (c *Client) HeadObject(ctx context.Context, in *s3.HeadObjectInput, _ ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	return api.Call(ctx, c.bs.core, headObject, in, c.bs.head)
}

// DeleteObject removes an object. It succeeds if there is none.
func (c *Client) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, _ ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	return api.Call(ctx, c.bs.core, deleteObject, in, c.bs.delete)
}

// DeleteObjects removes up to 1,000 objects.
func (c *Client) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	return api.Call(ctx, c.bs.core, deleteObjects, in, c.bs.deleteAll)
}

// ListObjectsV2 lists keys in byte order, up to 1,000 at a time.
func (c *Client) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	return api.Call(ctx, c.bs.core, listObjectsV2, in, c.bs.list)
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func (bs *Buckets) create(in *s3.CreateBucketInput) (*s3.CreateBucketOutput, error) {
	name := aws.ToString(in.Bucket)
	if !bucketName.MatchString(name) || strings.Contains(name, "..") || net.ParseIP(name) != nil {
		return nil, api.Error("InvalidBucketName", "The specified bucket is not valid.")
	}
	bs.mu.Lock()
	defer bs.unlock()
	if bs.byName[name] != nil {
		return nil,
			&types.BucketAlreadyOwnedByYou{Message: aws.String(
				"Your previous request to create the named bucket succeeded and you already own it.")}
	}
	b := &bucket{created: bs.core.Now().Truncate(time.Second), objects: map[string]*object{}}
	bs.byName[name] = b
	bs.keepBucket(name, b)
	return &s3.CreateBucketOutput{Location: aws.String("/" + name)}, nil
}

func (bs *Buckets) listBuckets(in *s3.ListBucketsInput) (*s3.ListBucketsOutput, error) {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	out := &s3.ListBucketsOutput{Buckets: []types.Bucket{}, Prefix: in.Prefix, Owner: &types.Owner{ID: aws.String(bs.core.Config.Account)}}
	for _, name := range slices.Sorted(maps.Keys(bs.byName)) {
		if strings.HasPrefix(name, aws.ToString(in.Prefix)) {
			out.Buckets = append(out.Buckets, types.Bucket{Name: aws.String(name), CreationDate: aws.Time(bs.byName[name].created)})
		}
	}
	return out, nil
}

func (bs *Buckets) bucket(name, owner *string) (*bucket, error) {
	b := bs.byName[aws.ToString(name)]
	if b == nil {
		return nil, &types.NoSuchBucket{Message: aws.String("The specified bucket does not exist")}
	}
	if owner != nil && *owner != bs.core.Config.Account {
		return nil, api.Error("AccessDenied", "Access Denied")
	}
	return b, nil
}

func (bs *Buckets) put(in *s3.PutObjectInput) (*s3.PutObjectOutput, error) {
	key := aws.ToString(in.Key)
	if key == "" || len(key) > 1024 {
		return nil, api.Error("KeyTooLongError", "An object key must have 1 to 1024 bytes")
	}
	if in.IfNoneMatch != nil && *in.IfNoneMatch != "*" {
		return nil, api.Unsupported("PutObject", "IfNoneMatch other than *")
	}
	o := &object{contentType: "application/octet-stream", metadata: maps.Clone(in.Metadata), modified: bs.core.Now().Truncate(time.Second)}
	if in.Body != nil {
		var err error
		if o.body, err = io.ReadAll(in.Body); err != nil {
			return nil, err
		}
	}
	if in.ContentLength != nil && *in.ContentLength != int64(len(o.body)) {
		return nil, api.Error("IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header")
	}
	given := Checksums{in.ContentMD5, in.ChecksumCRC32, in.ChecksumCRC32C, in.ChecksumCRC64NVME, in.ChecksumSHA1, in.ChecksumSHA256}
	if err := given.Check(o.body); err != nil {
		return nil, err
	}
	if in.ContentType != nil {
		o.contentType = *in.ContentType
	}
	o.etag = `"` + fmt.Sprintf("%x", md5.Sum(o.body)) + `"`
	bs.mu.Lock()
	defer bs.unlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	if in.IfMatch != nil && b.objects[key] == nil {
		return nil, api.Error("NoSuchKey", "The specified key does not exist.")
	}
	if b.objects[key] != nil && (in.IfNoneMatch != nil || in.IfMatch != nil && *in.IfMatch != b.objects[key].etag) {
		return nil, api.Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	}
	if err := bs.keepObject(*in.Bucket, key, o); err != nil {
		return nil, err
	}
	if b.objects[key] == nil {
		at, _ := b.find(key)
		b.keys.Insert(at, key)
	}
	b.objects[key] = o
	return &s3.PutObjectOutput{ETag: aws.String(o.etag), ChecksumCRC32: given.CRC32, ChecksumCRC32C: given.CRC32C,
		ChecksumCRC64NVME: given.CRC64NVME,
		ChecksumSHA1:      given.SHA1, ChecksumSHA256: given.SHA256}, nil
}

func (b *bucket) find(key string) (api.Position, bool) {
	return b.keys.Find(func(k string) int { return compareText(k, key) })
}

func (bs *Buckets) get(in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
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

func (bs *Buckets) head(in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, &types.NotFound{Message: aws.String("Not Found")} // the answer to a HEAD has no body, so it cannot say more
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
