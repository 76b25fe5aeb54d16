package erase

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// If S3 does not say which versions there are, that is said. Only an emulator that knows of no
// versions has none.
func TestVersionsThatAreNotListed(t *testing.T) {
	for code, status := range map[string]int{"NotImplemented": 501, "AccessDenied": 403, "SlowDown": 503, "InternalError": 500,
		"MethodNotAllowed": 405, "NoSuchBucket": 404} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/xml")
			if r.URL.Query().Has("versions") {
				rw.WriteHeader(status)
				fmt.Fprintf(rw, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
				return
			}
			fmt.Fprint(rw, "<ListBucketResult><Contents><Key>expired/one</Key></Contents></ListBucketResult>")
		}))
		client := s3.New(s3.Options{BaseEndpoint: &server.URL, UsePathStyle: true, Region: "us-east-1", RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
		list, err := versionsOf(t.Context(), client, "archive", "expired/")
		server.Close()
		if len(list) != 1 || list[0].Name != "expired/one" || (err == nil) != (code == "NotImplemented") || err != nil &&
			!strings.Contains(err.Error(), "the versions in bucket archive") {
			t.Errorf("%s: %v, %v", code, list, err)
		}
	}
}
