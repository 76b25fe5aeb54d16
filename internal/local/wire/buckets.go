package wire

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bucketList is the answer to a ListBuckets.
type bucketList struct {
	XMLName   xml.Name `xml:"ListAllMyBucketsResult"`
	Namespace string   `xml:"xmlns,attr"`
	Owner     struct{ ID string }
	Buckets   struct{ Bucket []listedBucket }
	Prefix    *string
}

type listedBucket struct{ Name, CreationDate string }

func (o objects) listBuckets(w http.ResponseWriter, r *http.Request, query url.Values) error {
	in := &s3.ListBucketsInput{}
	if query.Has("prefix") {
		in.Prefix = aws.String(query.Get("prefix"))
	}
	out, err := o.client.ListBuckets(r.Context(), in)
	if err != nil {
		return err
	}
	answer := bucketList{Namespace: namespace, Prefix: out.Prefix}
	answer.Owner.ID = *out.Owner.ID
	for _, b := range out.Buckets {
		answer.Buckets.Bucket = append(answer.Buckets.Bucket, listedBucket{*b.Name, b.CreationDate.UTC().Format(time.RFC3339)})
	}
	return writeXML(w, http.StatusOK, answer)
}
