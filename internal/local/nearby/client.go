// Package nearby has what both ends of a connection to an endpoint on this machine need: [Client]
// is for those who ask it, and [ReadBody] for both. It knows no protocol.
package nearby

import (
	"bytes"
	"io"
	"net/http"
)

// Client returns an HTTP client with which clients of the AWS SDK reach an endpoint on this
// machine. It reads the body of each request into memory before it sends it.
//
// Without that, connections can break. The SDK closes the body of a request as soon as the head of
// the answer arrives. If net/http then checks whether the body has more to send, it gets EOF and
// closes the connection, while a long answer is still being read. The SDK then sends the request
// again. This happens only if the endpoint answers within microseconds, so AWS is not affected.
func Client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = connections
	return &http.Client{Transport: whole{t}}
}

// connections is how many idle connections stay open for later requests. Go's default is 2, but a
// program that sends events makes more requests at a time.
const connections = 32

type whole struct{ *http.Transport }

func (w whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := ReadBody(r.Body, r.ContentLength)
		if err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it was read to its end, so an error says nothing more
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.Transport.RoundTrip(r)
}

// Largest is the largest request, in bytes. DynamoDB takes 16 MB, which can take more space in
// JSON.
const Largest = 32 << 20

// ReadBody reads the body of a request. length is the length that the headers give. It is 0 or
// negative if they give none.
func ReadBody(body io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > Largest {
		return io.ReadAll(body)
	}
	all := make([]byte, length)
	_, err := io.ReadFull(body, all)
	return all, err
}
