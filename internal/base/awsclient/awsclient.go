// Package awsclient mends how the AWS SDK sends the body of a request.
package awsclient

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Client sends with another client, and does not lose answers.
//
// net/http asks once more for the body when it has sent all of it, to see that nothing follows. The
// answer may be there by then, and the SDK closes the body as soon as it has the head of the
// answer. The SDK's body then returns io.EOF to io.Copy, through WriteTo, where nil would be right.
// net/http takes that for a failed write and closes the connection under the answer, which ends
// with "use of closed network connection". A function with little of a processor meets this, or a
// busy machine. Without WriteTo, the end of the body is no error. See
// https://github.com/aws/aws-sdk-go-v2/issues/2737.
type Client struct{ aws.HTTPClient }

// Do implements [aws.HTTPClient].
func (c Client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.HTTPClient.Do(r)
}
