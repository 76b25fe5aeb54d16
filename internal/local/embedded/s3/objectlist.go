package s3

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

const maxListedKeys = 1000

func compareText(a, b string) int { return strings.Compare(a, b) }

func (bs *Buckets) list(in *s3.ListObjectsV2Input) (*s3.ListObjectsV2Output, error) {
	limit := maxListedKeys
	if in.MaxKeys != nil {
		if *in.MaxKeys < 0 {
			return nil, api.Error("InvalidArgument", "Argument maxKeys must be an integer between 0 and 2147483647")
		}
		limit = min(limit, int(*in.MaxKeys))
	}
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	prefix := aws.ToString(in.Prefix)
	after := aws.ToString(in.StartAfter)
	if in.ContinuationToken != nil {
		if *in.ContinuationToken == "" {
			return nil, api.Error("InvalidArgument", "The continuation token provided is incorrect")
		}
		after = *in.ContinuationToken // the last key of the previous page
	}
	out := &s3.ListObjectsV2Output{
		Name: in.Bucket, Prefix: in.Prefix, MaxKeys: aws.Int32(int32(limit)), StartAfter: in.StartAfter,
		ContinuationToken: in.ContinuationToken, IsTruncated: aws.Bool(false),
	}
	for p, _ := b.find(max(prefix, after)); b.keys.Valid(p); p = b.keys.Next(p) {
		key := b.keys.At(p)
		if key == after && after != "" {
			continue
		}
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if len(out.Contents) == limit {
			out.IsTruncated = aws.Bool(true)
			if limit > 0 {
				out.NextContinuationToken = out.Contents[limit-1].Key
			}
			break
		}
		o := b.objects[key]
		out.Contents = append(out.Contents, types.Object{
			Key: aws.String(key), ETag: aws.String(o.etag), Size: aws.Int64(int64(len(o.body))), LastModified: aws.Time(o.modified),
		})
	}
	out.KeyCount = aws.Int32(int32(len(out.Contents)))
	return out, nil
}
