package wire

import (
	"bytes"
	"io"
	"net/http"
)

// Client returns an HTTP client for the AWS SDK's clients of an endpoint on this machine. It sends each body of a
// request whole, out of memory.
//
// The SDK closes the body of a request as soon as the head of the answer is there. Its body then says EOF where net/http
// looks whether there is more to send, and net/http closes the connection, while a long answer is still being read. An
// endpoint must answer within microseconds for that, so it does not happen with AWS. The SDK sends such a request again.
func Client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = connections
	return &http.Client{Transport: whole{t}}
}

// connections is how many connections stay open for the next requests. Go's own value is 2, and a
// program that sends events has more requests under way.
const connections = 32

type whole struct{ *http.Transport }

func (w whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := readBody(r.Body, r.ContentLength)
		if err != nil {
			return nil, err
		}
		_ = r.Body.Close() // of a buffer
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.Transport.RoundTrip(r)
}
