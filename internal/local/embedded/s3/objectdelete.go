package s3

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

const maxDeletedKeys = 1000

// delete removes an object. Like the service, it gives the same answer whether there was an object
// or not.
func (bs *Buckets) delete(in *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	bs.mu.Lock()
	defer bs.unlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	bs.remove(*in.Bucket, b, aws.ToString(in.Key))
	return &s3.DeleteObjectOutput{}, nil
}

func (bs *Buckets) deleteAll(in *s3.DeleteObjectsInput) (*s3.DeleteObjectsOutput, error) {
	if in.Delete == nil || len(in.Delete.Objects) == 0 || len(in.Delete.Objects) > maxDeletedKeys {
		return nil, api.Error("MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
	}
	for _, o := range in.Delete.Objects {
		if err := api.RefuseNested(bs.core, "DeleteObjects", o, "Key"); err != nil {
			return nil, err
		}
	}
	bs.mu.Lock()
	defer bs.unlock()
	b, err := bs.bucket(in.Bucket, in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	out := &s3.DeleteObjectsOutput{}
	for _, o := range in.Delete.Objects {
		bs.remove(*in.Bucket, b, aws.ToString(o.Key))
		if !aws.ToBool(in.Delete.Quiet) {
			out.Deleted = append(out.Deleted, types.DeletedObject{Key: o.Key})
		}
	}
	return out, nil
}

// remove takes an object out of a bucket, if it is there.
func (bs *Buckets) remove(name string, b *bucket, key string) {
	if b.objects[key] == nil {
		return
	}
	at, _ := b.find(key)
	b.keys.Remove(at)
	delete(b.objects, key)
	bs.log.Remove(objectSpace(name), key)
}
