package wire

import (
	"net/http"
	"strings"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// server serves all services at one address, because AWS_ENDPOINT_URL is one address.
type server struct {
	json map[string]service
	s3   objects
}

// New returns a handler that serves the engine's tables, streams, queues and buckets.
func New(e *embedded.Engine) http.Handler {
	return &server{json: services(e), s3: objects{e.S3()}}
}

// ServeHTTP finds out which service a request is for. A request in AWS JSON names its operation in
// a header. A request in the older protocol of SQS is a form, and is refused. Every other request
// is for S3.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-amzn-RequestId", requestID())
	target := r.Header.Get("X-Amz-Target")
	if target == "" {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			http.Error(w, "the request uses the older query protocol of SQS, which this endpoint does not support; use an AWS SDK or AWS "+
				"CLI of 2024 or newer", http.StatusNotImplemented)
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
