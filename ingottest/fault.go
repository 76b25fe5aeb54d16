package ingottest

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/testworld"
)

// Function is one of the two functions.
type Function uint8

// The functions.
const (
	none Function = iota
	Ingest
	Streams
)

// String returns the function's name.
func (f Function) String() string {
	switch f {
	case Ingest:
		return "Ingest"
	case Streams:
		return "Streams"
	}
	return fmt.Sprintf("Function(%d)", uint8(f))
}

// Crash kills a function right after one of its requests. The request was carried out. Nothing that
// the function would have done after it was. request counts everything that the function sends to
// DynamoDB, SQS and S3 after this call: 1 is its next request. The function starts again for its
// next invocation, and the same messages or changes are delivered again.
func (w *World) Crash(f Function, request int) { w.plant(f, crash, request) }

// LoseAnswer makes a function lose the answer to one of its requests. The request was carried out,
// but the function sees an error. request is as for [World.Crash].
func (w *World) LoseAnswer(f Function, request int) { w.plant(f, loseAnswer, request) }

// Throttle refuses one of a function's requests for capacity. request is as for [World.Crash].
func (w *World) Throttle(f Function, request int) { w.plant(f, throttle, request) }

// Contend refuses one of a function's requests because somebody else is writing one of its items at
// this moment. DynamoDB does so with transactions, and with the write of one item that a
// transaction holds. A request that is neither is carried out as usual. request is as for
// [World.Crash].
func (w *World) Contend(f Function, request int) { w.plant(f, contend, request) }

// StaleRead answers one of a function's requests with the tables as they were some moments ago.
// DynamoDB may do the same with a read that is not consistent, and with every read of an index. The
// answer lacks the writes of the last 5 seconds, at most 64 of each table. The clock stands still
// while a function runs, so these are mostly all the writes of this run. Ingot's own reads that
// decide something are consistent. The fault is for what your hooks read through DynamoDB. A
// request that is not such a read is carried out as usual. request is as for [World.Crash].
func (w *World) StaleRead(f Function, request int) { w.plant(f, staleRead, request) }

func (w *World) plant(f Function, k faultKind, request int) {
	w.t.Helper()
	if f != Ingest && f != Streams || request < 1 {
		w.t.Fatalf("ingottest: %s(%s, %d): name Ingest or Streams, and a request from 1 on", k, f, request)
	}
	w.faults.planned = append(w.faults.planned, fault{f, k, request, w.faults.sent[f] + request})
}

type faultKind string

const (
	crash      faultKind = "Crash"
	loseAnswer faultKind = "LoseAnswer"
	throttle   faultKind = "Throttle"
	contend    faultKind = "Contend"
	staleRead  faultKind = "StaleRead"
)

// fault is a fault that is to happen once.
type fault struct {
	function Function
	kind     faultKind
	request  int // the number that the test gave
	at       int // the same request, counted from the beginning
}

// faults stands between the functions and the engine.
type faults struct {
	running Function // zero if the caller is not a function
	sent    [Streams + 1]int
	planned []fault
	lag     func(embedded.Read) int // of what the test reads; nil: none
	stale   bool                    // the request under way is to be answered with an earlier state
	mayBe   [Streams + 1][]int      // which requests could be stale, counted from the beginning
	several [Streams + 1][]int      // which requests were transactions, counted in the same way
}

// behind returns how many of the latest writes the answer to a read lacks.
func (f *faults) behind(r embedded.Read) int {
	if f.running == none && f.lag != nil {
		return f.lag(r)
	}
	if f.running == none || r.Consistent || r.Writes == 0 {
		return 0
	}
	f.mayBe[f.running] = append(f.mayBe[f.running], f.sent[f.running])
	if f.stale {
		return r.Writes
	}
	return 0
}

func (f *faults) intercept(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
	if f.running == none {
		return call()
	}
	f.sent[f.running]++
	if api == "TransactWriteItems" {
		f.several[f.running] = append(f.several[f.running], f.sent[f.running])
	}
	kind := f.take()
	var befalls testworld.Fault
	switch kind {
	case throttle:
		befalls.Before = throttled(api)
	case contend:
		befalls.Before = contended(in)
	case crash:
		befalls.Kill = true
	case loseAnswer:
		befalls.After = errLost
	case staleRead:
		f.stale = true
		defer func() { f.stale = false }()
	}
	return befalls.Befall(call)
}

// take returns the fault that is planned for this request, if any.
func (f *faults) take() faultKind {
	for i, p := range f.planned {
		if p.function == f.running && p.at == f.sent[f.running] {
			f.planned = append(f.planned[:i], f.planned[i+1:]...)
			return p.kind
		}
	}
	return ""
}

var errLost = errors.New("read: connection reset by peer (the test lost the answer)")

func throttled(api string) error {
	switch api {
	case "SendMessageBatch", "PutObject", "GetObject", "DeleteObject":
		return &smithy.GenericAPIError{Code: "ThrottlingException", Message: "the test throttled this request"}
	}
	return &types.ProvisionedThroughputExceededException{Message: aws.String("the test throttled this request")}
}

// contended returns the refusal of a request whose first item another request holds. It is nil if
// the service would not refuse it for that.
func contended(in any) error {
	const message = "Transaction is ongoing for the item"
	switch in := in.(type) {
	case *dynamodb.TransactWriteItemsInput:
		cancelled := testworld.Cancelled(len(in.TransactItems))
		cancelled.CancellationReasons[0] = types.CancellationReason{Code: aws.String("TransactionConflict"), Message: aws.String(message)}
		return cancelled
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput:
		return &types.TransactionConflictException{Message: aws.String(message)}
	}
	return nil
}
