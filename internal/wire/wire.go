package wire

import (
	"net/http"
	"strings"

	"github.com/ingot-events/ingot/internal/embedded"
)

// server answers for all services at one address, as AWS_ENDPOINT_URL wants it.
type server struct {
	json map[string]service
	s3   objects
}

// New returns a handler that serves the engine's tables, streams, queues and buckets.
func New(e *embedded.Engine) http.Handler {
	return &server{json: services(e), s3: objects{e.S3()}}
}

// ServeHTTP tells the services apart as the SDKs' requests differ: AWS JSON names its operation in a header, SQS's older
// protocol in a form, and everything else is S3's.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-amzn-RequestId", requestID())
	target := r.Header.Get("X-Amz-Target")
	if target == "" {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			http.Error(w, "this is the query protocol of SQS, which older SDKs use and this endpoint does not know; use an SDK or an AWS CLI of 2024 or newer", http.StatusNotImplemented)
			return
		}
		s.s3.serve(w, r)
		return
	}
	prefix, name, _ := strings.Cut(target, ".")
	known, ok := s.json[prefix]
	if !ok {
		service{}.refuse(w, &embedded.UnsupportedError{API: target, What: "the service"})
		return
	}
	known.serve(w, r, name)
}
