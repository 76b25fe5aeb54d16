package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// objects serves S3 in its REST protocol, with the bucket in the path. It has the operations that
// Ingot and its users need: create and list buckets, and put, get, head, list and delete objects.
type objects struct{ client *embedded.S3 }

const (
	namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
	metadata  = "X-Amz-Meta-"
)

func (o objects) serve(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if err := o.answer(w, r, bucket, key); err != nil {
		refuseObject(w, r, err)
	}
}

// answer carries out a request. If it returns an error, it has not written anything to w.
func (o objects) answer(w http.ResponseWriter, r *http.Request, bucket, key string) error {
	query := r.URL.Query()
	if name := foreignHeader(r); name != "" {
		return unsupportedObject(r, "the header "+name)
	}
	switch {
	case bucket == "" && r.Method == http.MethodGet && only(query, "prefix"):
		return o.listBuckets(w, r, query)
	case bucket == "":
		return unsupportedObject(r, "a request without a bucket in its path")
	case key != "" && r.Method == http.MethodPut:
		return o.put(w, r, bucket, key, query)
	case key != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return o.get(w, r, bucket, key, query)
	case key != "" && r.Method == http.MethodDelete && only(query):
		_, err := o.client.DeleteObject(r.Context(),
			&s3.DeleteObjectInput{Bucket: &bucket, Key: &key, ExpectedBucketOwner: optional(r.Header, "X-Amz-Expected-Bucket-Owner")})
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	case key == "" && r.Method == http.MethodPost && query.Has("delete") && only(query, "delete"):
		return o.deleteAll(w, r, bucket)
	case key == "" && r.Method == http.MethodPut && only(query):
		_, err := o.client.CreateBucket(r.Context(), &s3.CreateBucketInput{Bucket: &bucket})
		if err == nil {
			w.Header().Set("Location", "/"+bucket)
		}
		return err
	case key == "" && r.Method == http.MethodHead:
		_, err := o.client.ListObjectsV2(r.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, MaxKeys: aws.Int32(0)})
		return err
	case key == "" && r.Method == http.MethodGet:
		return o.list(w, r, bucket, query)
	default:
		return unsupportedObject(r, "the method")
	}
}

// only reports whether a query has no parameters except these names and x-id, in which the SDKs
// name the operation.
func only(query url.Values, names ...string) bool {
	for name := range query {
		if name != "x-id" && !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

func unsupportedObject(r *http.Request, what string) error {
	return &embedded.UnsupportedError{API: r.Method + " " + r.URL.RequestURI(), What: what}
}

// optional returns the value of a header, or nil if the request does not have it.
func optional(h http.Header, name string) *string {
	if text := h.Get(name); text != "" {
		return &text
	}
	return nil
}

func (o objects) put(w http.ResponseWriter, r *http.Request, bucket, key string, query url.Values) error {
	if !only(query) {
		return unsupportedObject(r, "the query")
	}
	text, sums, err := body(w, r, largest)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(text), ContentMD5: sums.MD5, ChecksumCRC32: sums.CRC32,
		ChecksumCRC32C:    sums.CRC32C,
		ChecksumCRC64NVME: sums.CRC64NVME, ChecksumSHA1: sums.SHA1, ChecksumSHA256: sums.SHA256,
		ContentType: optional(r.Header, "Content-Type"),
		IfMatch:     optional(r.Header, "If-Match"),
		IfNoneMatch: optional(r.Header, "If-None-Match"), ExpectedBucketOwner: optional(r.Header, "X-Amz-Expected-Bucket-Owner")}
	for name, values := range r.Header {
		if after, is := strings.CutPrefix(name, metadata); is {
			if in.Metadata == nil {
				in.Metadata = map[string]string{}
			}
			in.Metadata[strings.ToLower(after)] = strings.Join(values, ",")
		}
	}
	out, err := o.client.PutObject(r.Context(), in)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", *out.ETag)
	for name, sum := range map[string]*string{"Crc32": out.ChecksumCRC32, "Crc32c": out.ChecksumCRC32C, "Crc64nvme": out.ChecksumCRC64NVME,
		"Sha1": out.ChecksumSHA1, "Sha256": out.ChecksumSHA256} {
		if sum != nil {
			w.Header().Set(checksum+name, *sum)
		}
	}
	return nil
}

// get answers GET and HEAD. The answer to a HEAD has no body, because net/http drops it.
func (o objects) get(w http.ResponseWriter, r *http.Request, bucket, key string, query url.Values) error {
	if !only(query) || r.Header.Get("Range") != "" {
		return unsupportedObject(r, "a part of an object, or another form of it")
	}
	owner := optional(r.Header, "X-Amz-Expected-Bucket-Owner")
	if r.Method == http.MethodHead { // its errors differ from those of GET
		if _, err := o.client.HeadObject(r.Context(),
			&s3.HeadObjectInput{Bucket: &bucket, Key: &key, ExpectedBucketOwner: owner}); err != nil {
			return err
		}
	}
	out, err := o.client.GetObject(r.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key, ExpectedBucketOwner: owner})
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", *out.ContentType)
	h.Set("Content-Length", strconv.FormatInt(*out.ContentLength, 10))
	h.Set("ETag", *out.ETag)
	h.Set("Last-Modified", out.LastModified.UTC().Format(http.TimeFormat))
	for _, name := range slices.Sorted(maps.Keys(out.Metadata)) {
		h["x-amz-meta-"+name] = []string{out.Metadata[name]} // in lower case, as some SDKs expect
	}
	_, _ = io.Copy(w, out.Body) // a client that has gone away gets no answer
	return nil
}

// deletion is the body of a DeleteObjects.
type deletion struct {
	XMLName xml.Name `xml:"Delete"`
	Quiet   bool
	Objects []struct {
		Key       string
		VersionID *string `xml:"VersionId"`
	} `xml:"Object"`
}

// deleted is the answer to a DeleteObjects.
type deleted struct {
	XMLName   xml.Name `xml:"DeleteResult"`
	Namespace string   `xml:"xmlns,attr"`
	Deleted   []struct{ Key string }
}

// mostDeletion is the largest body of a DeleteObjects, in bytes. It has room for 1,000 keys of
// 1,024 bytes, each byte of them written as an XML entity.
const mostDeletion = 8 << 20

func (o objects) deleteAll(w http.ResponseWriter, r *http.Request, bucket string) error {
	text, sums, err := body(w, r, mostDeletion)
	if err == nil {
		err = sums.Check(text)
	}
	if err != nil {
		return err
	}
	var asked deletion
	if err := xml.Unmarshal(text, &asked); err != nil {
		return &smithy.GenericAPIError{Code: "MalformedXML", Message: "The XML you provided was not well-formed: " + err.Error(),
			Fault: smithy.FaultClient}
	}
	in := &s3.DeleteObjectsInput{Bucket: &bucket, Delete: &types.Delete{Quiet: &asked.Quiet},
		ExpectedBucketOwner: optional(r.Header, "X-Amz-Expected-Bucket-Owner")}
	for _, one := range asked.Objects {
		in.Delete.Objects = append(in.Delete.Objects, types.ObjectIdentifier{Key: &one.Key, VersionId: one.VersionID})
	}
	out, err := o.client.DeleteObjects(r.Context(), in)
	if err != nil {
		return err
	}
	answer := deleted{Namespace: namespace}
	for _, one := range out.Deleted {
		answer.Deleted = append(answer.Deleted, struct{ Key string }{*one.Key})
	}
	return writeXML(w, http.StatusOK, answer)
}

// listing is the answer to both versions of ListObjects. Version 1 continues after a marker,
// version 2 after a token.
type listing struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Namespace             string   `xml:"xmlns,attr"`
	Name                  string
	Prefix                string
	MaxKeys               int32
	IsTruncated           bool
	EncodingType          *string
	Marker                *string
	NextMarker            *string
	KeyCount              *int32
	StartAfter            *string
	ContinuationToken     *string
	NextContinuationToken *string
	Contents              []listed
}

type listed struct {
	Key          string
	LastModified string
	ETag         string
	Size         int64
	StorageClass string
}

func (o objects) list(w http.ResponseWriter, r *http.Request, bucket string, query url.Values) error {
	first := query.Get("list-type") != "2"
	if query.Get("delimiter") != "" || !only(query, "list-type", "prefix", "max-keys", "marker", "start-after", "continuation-token",
		"encoding-type", "delimiter") {
		return unsupportedObject(r, "the query")
	}
	if form := query.Get("encoding-type"); form != "" && form != "url" {
		return &smithy.GenericAPIError{Code: "InvalidArgument", Message: "Invalid Encoding Method specified in Request",
			Fault: smithy.FaultClient}
	}
	given := func(name string) *string {
		if !query.Has(name) {
			return nil
		}
		text := query.Get(name)
		return &text
	}
	in := &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: given("prefix"), StartAfter: given("start-after"),
		ContinuationToken:   given("continuation-token"),
		ExpectedBucketOwner: optional(r.Header, "X-Amz-Expected-Bucket-Owner")}
	if first {
		in.StartAfter, in.ContinuationToken = given("marker"), nil
	}
	if text := query.Get("max-keys"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			n = -1 // the engine refuses it, as the service does
		}
		in.MaxKeys = aws.Int32(int32(n))
	}
	out, err := o.client.ListObjectsV2(r.Context(), in)
	if err != nil {
		return err
	}
	// A key may have characters that XML cannot hold. A client can ask for keys that are encoded as
	// in a URL.
	name, encoding := func(key string) string { return key }, given("encoding-type")
	if aws.ToString(encoding) == "url" {
		name = func(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "+", "%20") }
	}
	l := listing{EncodingType: encoding, Namespace: namespace, Name: bucket, Prefix: name(aws.ToString(out.Prefix)), MaxKeys: *out.MaxKeys,
		IsTruncated: *out.IsTruncated}
	for _, c := range out.Contents {
		l.Contents = append(l.Contents, listed{Key: name(*c.Key), LastModified: c.LastModified.UTC().Format(time.RFC3339), ETag: *c.ETag,
			Size: *c.Size, StorageClass: "STANDARD"})
	}
	if first {
		l.Marker = aws.String(name(aws.ToString(in.StartAfter)))
		if *out.IsTruncated && len(l.Contents) > 0 {
			l.NextMarker = &l.Contents[len(l.Contents)-1].Key
		}
	} else {
		l.KeyCount, l.StartAfter, l.ContinuationToken, l.NextContinuationToken = out.KeyCount, out.StartAfter, out.ContinuationToken,
			out.NextContinuationToken
	}
	return writeXML(w, http.StatusOK, l)
}

type objectError struct {
	XMLName   xml.Name `xml:"Error"`
	Code      string
	Message   string
	RequestID string `xml:"RequestId"`
}

// statuses holds the HTTP statuses of S3's errors, except those with the status 400.
var statuses = map[string]int{"NoSuchKey": 404, "NoSuchBucket": 404, "NotFound": 404, "PreconditionFailed": 412,
	"BucketAlreadyOwnedByYou": 409, "AccessDenied": 403}

func refuseObject(w http.ResponseWriter, r *http.Request, err error) {
	status, code, message := describe(err)
	if code == "InternalServerError" {
		code = "InternalError"
	}
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		status, code, message = http.StatusBadRequest, "EntityTooLarge", "the object has more than "+strconv.FormatInt(long.Limit, 10)+
			" bytes"
	}
	if errors.Is(err, errChunks) {
		status, code = http.StatusBadRequest, "IncompleteBody"
	}
	if other, ok := statuses[code]; ok {
		status = other
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(status)
		return
	}
	_ = writeXML(w, status,
		objectError{Code: code, Message: message, RequestID: w.Header().Get("x-amzn-RequestId")}) // it cannot fail for this type
}

func writeXML(w http.ResponseWriter, status int, answer any) error {
	text, err := xml.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), text...)) // a client that has gone away gets no answer
	return nil
}
