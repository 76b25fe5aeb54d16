package demo

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
)

// These are the chances of each trouble: for messages, invocations and requests.
const (
	chanceTwice     = 0.04
	chanceLate      = 0.08
	chanceAltered   = 0.015
	chanceMalformed = 0.01

	chanceKilled       = 0.10 // of an invocation
	chanceRefused      = 0.04
	chanceInvokedTwice = 0.06
	chanceAnswerLost   = 0.06
	chanceForgotten    = 0.06
	chanceStale        = 0.20 // of a burst
	chanceRolled       = 0.50 // of a burst, until the shards have rolled for the first time

	chanceThrottled     = 0.02 // of a request
	chanceRequestLost   = 0.02
	chanceSomeThrottled = 0.25 // of a request with several statements
	chanceSendLost      = 0.15
)

// trouble makes trouble inside the two functions and around them, with a seeded die. It does not
// disturb anything outside the functions: not the mappings, the producer or verify.
type trouble struct {
	calm   bool // no trouble happens
	die    *rand.Rand
	ledger *ledger
	items  func(context.Context) (int, error) // returns the number of items in the events table
	watch  func(context.Context, any)         // called with each request that was carried out
	in     *invocation                        // nil if no function runs
	tries  [kinds]int                         // how often each kind could have happened
}

// invocation is one run of a function.
type invocation struct {
	calls   int
	killAt  int  // the number of calls after which it is killed; 0 if it is not killed
	refused bool // the table refuses all its requests
	stored  int  // items that its requests added to the events table and whose answers it got
	// requests counts the requests that this function has sent to DynamoDB. It is kept between
	// invocations.
	requests *int
}

// chance decides by the die whether one kind of trouble happens. As long as it has not happened, it
// becomes more likely with each try, so every long enough run has every kind. Afterwards its chance
// is p.
func (t *trouble) chance(k kind, p float64) bool {
	if t.calm {
		return false
	}
	if t.ledger.injected[k] == 0 {
		p += 0.01 * float64(t.tries[k])
	}
	t.tries[k]++
	return t.die.Float64() < p
}

// begin starts an invocation. It decides whether and when the invocation is killed. A kill happens
// between a request that was carried out and the answer of the function.
func (t *trouble) begin(typicalCalls int, requests *int, kill, refuse kind) {
	t.in = &invocation{requests: requests}
	if t.chance(kill, chanceKilled) {
		t.in.killAt = 1 + t.die.IntN(typicalCalls)
	}
	t.in.refused = t.in.killAt == 0 && t.chance(refuse, chanceRefused)
}

// end ends the invocation. It returns how many items the invocation knows it has stored.
func (t *trouble) end() int {
	stored := t.in.stored
	t.in = nil
	return stored
}

// intercept stands between the functions and the engine.
func (t *trouble) intercept(ctx context.Context, api string, input any, call func() (any, error)) (any, error) {
	if t.in == nil {
		return call()
	}
	t.in.calls++
	own := iam.As(ctx, nil) // what it asks itself is not the function's
	before := t.count(own)
	out, err := t.disturb(api, input, call)
	// Everything runs on one goroutine, so all items that the table has gained were stored by this
	// request.
	if stored := t.count(own) - before; errors.Is(err, errLost) {
		t.ledger.unheard += stored
	} else {
		t.in.stored += stored
	}
	// A kill happens only after a request that was carried out. A throttled request has written
	// nothing.
	carriedOut := err == nil || errors.Is(err, errLost)
	if carriedOut {
		in := t.in
		t.in = nil // no trouble happens to the requests of watch
		t.watch(own, input)
		t.in = in
	}
	if carriedOut && t.in.killAt > 0 && t.in.calls >= t.in.killAt {
		testworld.Kill()
	}
	return out, err
}

// count returns the number of items. No trouble happens to its own request.
func (t *trouble) count(ctx context.Context) int {
	in := t.in
	t.in = nil
	defer func() { t.in = in }()
	n, err := t.items(ctx)
	if err != nil {
		return 0 // then the check of the accounts finds a difference
	}
	return n
}

func (t *trouble) disturb(api string, input any, call func() (any, error)) (any, error) {
	switch api {
	case "SendMessageBatch":
		return t.loseAnswer(quarantineAnswerLost, chanceSendLost, call)
	case "PutObject":
		if in, ok := input.(*s3.PutObjectInput); ok && aws.ToString(in.Bucket) == stack.Payloads {
			return t.loseAnswer(payloadAnswerLost, chanceRequestLost, call)
		}
		return t.loseAnswer(archiveAnswerLost, chanceRequestLost, call)
	}
	*t.in.requests++
	if t.in.refused {
		return nil, throttled()
	}
	if t.chance(requestThrottled, chanceThrottled) {
		t.ledger.happened(requestThrottled, 0)
		return nil, throttled()
	}
	if in, ok := input.(*dynamodb.BatchExecuteStatementInput); ok && len(in.Statements) > 1 &&
		t.chance(statementThrottled, chanceSomeThrottled) {
		return t.throttleSome(in, call)
	}
	return t.loseAnswer(tableAnswerLost, chanceRequestLost, call)
}

func throttled() error {
	return &types.ProvisionedThroughputExceededException{Message: aws.String("the demo throttled this request"),
		ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded"),
			Resource: aws.String("the demo")}}}
}

var errLost = errors.New("read: connection reset by peer (the demo dropped the answer)")

// loseAnswer carries the request out and perhaps drops its answer.
func (t *trouble) loseAnswer(k kind, p float64, call func() (any, error)) (any, error) {
	out, err := call()
	if err == nil && t.chance(k, p) {
		t.ledger.happened(k, 0)
		return nil, errLost
	}
	return out, err
}

// throttleSome refuses a few statements of a batch and carries out the others. The answer is a
// success, with an error for each throttled statement.
func (t *trouble) throttleSome(in *dynamodb.BatchExecuteStatementInput, call func() (any, error)) (any, error) {
	refused := make([]bool, len(in.Statements))
	for range min(1+t.die.IntN(3), len(refused)-1) {
		refused[t.die.IntN(len(refused))] = true
	}
	out, err := testworld.RefuseStatements(in, refused, testworld.Throttled("the demo throttled this statement"), call)
	if err == nil {
		for _, r := range refused {
			if r {
				t.ledger.happened(statementThrottled, 0)
			}
		}
	}
	return out, err
}

// queueFaults returns the troubles between Lambda and the ingest function.
func (t *trouble) queueFaults(wasKilled *bool) esm.Faults {
	return esm.Faults{
		Duplicate: func(inv esm.Invocation) bool {
			if *wasKilled || !t.chance(ingestTwice, chanceInvokedTwice) {
				return false
			}
			t.ledger.comeBack(ingestTwice, inv.IDs)
			return true
		},
		DropAnswer: func(inv esm.Invocation) bool {
			if *wasKilled || !t.chance(ingestAnswerLost, chanceAnswerLost) {
				return false
			}
			t.ledger.comeBack(ingestAnswerLost, inv.IDs)
			return true
		},
		Forget: func(inv esm.Invocation) bool {
			if !t.chance(deletionLost, chanceForgotten) {
				return false
			}
			t.ledger.comeBack(deletionLost, inv.IDs)
			return true
		},
	}
}

// streamFaults returns the troubles between Lambda and the streams function.
func (t *trouble) streamFaults(wasKilled *bool) esm.Faults {
	happens := func(k kind, p float64) func(esm.Invocation) bool {
		return func(inv esm.Invocation) bool {
			return !*wasKilled && len(inv.IDs) > 0 && t.chance(k, p) && t.note(k, len(inv.IDs))
		}
	}
	twice := happens(streamsTwice, chanceInvokedTwice)
	return esm.Faults{
		// This is called once after every invocation, so deliveries are also counted here.
		Duplicate: func(inv esm.Invocation) bool {
			t.ledger.delivered(inv.ShardID, inv.IDs)
			if !twice(inv) {
				return false
			}
			t.ledger.delivered(inv.ShardID, inv.IDs)
			return true
		},
		DropAnswer: happens(streamsAnswerLost, chanceAnswerLost),
		Forget:     happens(checkpointLost, chanceForgotten),
	}
}

func (t *trouble) note(k kind, touched int) bool {
	t.ledger.happened(k, touched)
	return true
}
