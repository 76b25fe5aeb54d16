package rows

import (
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// MaxAnswer is the largest size, in bytes, of an answer that can bring many aggregate items. An
// item takes up to 400 KB, and an answer takes up to 16 MB. Decoding takes ten times as much
// memory, and the smallest function has 256 MB.
const MaxAnswer = 512 << 10

// ErrTooLarge is the error of a request whose answer is too large and was not read. If the request
// was a write, it may have been done.
var ErrTooLarge = errors.New("the answer is too large to be read at once")

// Bounded makes a request fail instead of reading an answer that is larger than maxAnswer.
func Bounded(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(boundedAnswer, middleware.After)
	})
}

var boundedAnswer = middleware.DeserializeMiddlewareFunc("BoundedAnswer", func(ctx context.Context, in middleware.DeserializeInput,
	next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	r, ok := out.RawResponse.(*smithyhttp.Response)
	switch {
	case err != nil || !ok:
	case r.ContentLength > MaxAnswer:
		return out, metadata, errors.Join(ErrTooLarge, r.Body.Close())
	case r.ContentLength < 0: // the length is unknown
		r.Body = &boundedBody{ReadCloser: r.Body, left: MaxAnswer}
	}
	return out, metadata, err
})

// boundedBody is a body that returns an error if it is longer than its bound.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
