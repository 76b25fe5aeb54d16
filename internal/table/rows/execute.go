package rows

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/ingot-events/ingot/event"
	words "github.com/ingot-events/ingot/internal/base/reserved"
	"github.com/ingot-events/ingot/tables"
)

// Execute sends statements in one request and returns their answers, in order. If the number of
// answers is wrong, they prove nothing, and Execute returns an error.
func (s *Tables) Execute(ctx context.Context, statements []types.BatchStatementRequest,
	options ...func(*dynamodb.Options)) ([]types.BatchStatementResponse, error) {
	out, err := s.Client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: statements}, options...)
	if err != nil {
		return nil, err
	}
	if len(out.Responses) != len(statements) {
		return nil, ErrAnswers
	}
	return out.Responses, nil
}

var ErrAnswers = errors.New("the service did not answer each of the statements that were sent")

func request(text StatementText, parameters []types.AttributeValue) types.BatchStatementRequest {
	statement := string(text)
	return types.BatchStatementRequest{Statement: &statement, Parameters: parameters,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
}

// StatementText is PartiQL under construction.
type StatementText []byte

func (b StatementText) Add(text string) StatementText { return append(b, text...) }

// Quoted adds a name in double quotes. Any name may be written so.
func (b StatementText) Quoted(name string) StatementText {
	return append(append(append(b, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
}

// named adds a name without quotes where that is allowed. One emulator does not accept quotes
// inside a sum.
func (b StatementText) named(name string) StatementText {
	if unquoted(name) {
		return append(b, name...)
	}
	return b.Quoted(name)
}

// unquoted reports whether a name may be written in a statement without quotes.
func unquoted(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20 // lower case; digits and _ stay apart from letters
		if (c < 'a' || c > 'z') && name[i] != '_' && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != "" && !words.Word(name) && !words.InStatements(name)
}

// Transacted is the result of one transaction: the answer to the whole, and the reasons why it was
// cancelled.
type Transacted struct {
	Answer
	// Reasons are those of a cancelled transaction, in the order of its operations.
	Reasons []types.CancellationReason
	// Long says that the answer was too large to be read. Only the reasons of a cancelled
	// transaction can be so large.
	Long bool
	// Units are the write units that the service reports, if the request asked for them.
	Units float64
}

// Transact sends operations as one transaction, once. All of them are done, or none is. It does not
// use a token to recognise repetitions. If the answer is lost, the next try finds what this one has
// done, so each operation must have a condition that fails then.
func (s *Tables) Transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (t Transacted) {
	out, err := s.Client.TransactWriteItems(ctx, in, append(options, Bounded)...)
	t.Answer = Classify(err)
	if err == nil {
		for _, c := range out.ConsumedCapacity {
			t.Units += aws.ToFloat64(c.CapacityUnits)
		}
	}
	if errors.Is(err, ErrTooLarge) {
		t.Outcome, t.Long = Cancelled, true
	}
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		t.Reasons = cancel.CancellationReasons
	}
	return t
}

// Once makes the SDK send a request only once. The SDK repeats a request whose answer was lost, and
// does not say so. A put must know when a try got no answer.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// ErrLate is the error of a request that was not sent, because an event of it expires too soon.
var ErrLate = errors.New("an event expires too soon to be put")

// InTime sends a request only if its signature is from before the margin of each item's expiry. A
// process may stand still for any time between its judgement and the signature. Between the
// signature and the table, AWS measures.
func InTime(items ...*event.Item) func(*dynamodb.Options) {
	var soonest int64
	for _, item := range items {
		if item.ExpiresAt != 0 && (soonest == 0 || item.ExpiresAt < soonest) {
			soonest = item.ExpiresAt
		}
	}
	return func(o *dynamodb.Options) {
		if soonest == 0 {
			return
		}
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Finalize.Insert(signedBefore(time.Unix(soonest, 0).Add(-tables.ExpiryMargin)), "Signing", middleware.After)
		})
	}
}

// signedBefore refuses a request whose signature is not from before end.
func signedBefore(end time.Time) middleware.FinalizeMiddleware {
	return middleware.FinalizeMiddlewareFunc("SignedBefore", func(ctx context.Context, in middleware.FinalizeInput,
		next middleware.FinalizeHandler) (
		middleware.FinalizeOutput, middleware.Metadata, error,
	) {
		r, ok := in.Request.(*smithyhttp.Request)
		if !ok {
			return next.HandleFinalize(ctx, in)
		}
		if at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date")); err == nil && !at.Before(end) {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, ErrLate
		}
		return next.HandleFinalize(ctx, in)
	})
}

// MaxAnswer is the largest size, in bytes, of an answer that can bring many aggregate items. An
// item takes up to 400 KB, and an answer takes up to 16 MB. Decoding takes ten times as much
// memory, and the smallest function has 256 MB.
const MaxAnswer = 512 << 10

// ErrTooLarge is the error of a request whose answer is too large and was not read. If the request
// was a write, it may have been done.
var ErrTooLarge = errors.New("the answer is too large to be read at once")

// Bounded makes a request fail instead of reading an answer that is larger than MaxAnswer.
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
