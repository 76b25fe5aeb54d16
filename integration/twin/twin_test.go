package twin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/integration/twin"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

func twins(t *testing.T, cfg embedded.Config) *twin.Twins {
	t.Helper()
	w, err := twin.New(t.Context(), twin.Side{Name: "engine", DB: embedded.New(embedded.Config{}).DynamoDB()},
		twin.Side{Name: "other", DB: embedded.New(cfg).DynamoDB()}, "twins", twin.Leniency{})
	must.Succeed(t, err)
	return w
}

const length = 40

// TestEngineIsItsOwnTwin compares the engine with itself. The streams must meet every kind of
// answer.
func TestEngineIsItsOwnTwin(t *testing.T) {
	answers := map[string]int{}
	w := twins(t,
		embedded.Config{Partitions: 5, Seed: 9, Intercept: func(_ context.Context, api string, _ any, call func() (any, error)) (any,
			error) {
			out, err := call()
			code := "done"
			var refusal smithy.APIError
			if errors.As(err, &refusal) {
				code = refusal.ErrorCode()
			}
			var cancel *types.TransactionCanceledException
			if errors.As(err, &cancel) {
				code = "cancelled"
				for _, reason := range cancel.CancellationReasons {
					answers["reason "+aws.ToString(reason.Code)]++
				}
			}
			answers[api+" "+code]++
			return out, err
		}})
	for seed := range uint64(300) {
		if difference := w.Live(t.Context(), twin.Stream(seed, length)); difference != "" {
			t.Fatalf("seed %d: %s", seed, difference)
		}
	}
	items, difference, err := w.Whole(t.Context())
	if err != nil || difference != "" || items < 1000 {
		t.Errorf("%d items, %s, %v", items, difference, err)
	}
	for _, want := range []string{"PutItem done", "UpdateItem done", "DeleteItem done", "BatchExecuteStatement done",
		"TransactWriteItems done", "Query done", "BatchGetItem done", "GetItem done",
		"PutItem ConditionalCheckFailedException", "PutItem ValidationException", "UpdateItem ConditionalCheckFailedException",
		"UpdateItem ValidationException",
		"TransactWriteItems ValidationException", "TransactWriteItems IdempotentParameterMismatchException", "TransactWriteItems cancelled",
		"reason None", "reason ConditionalCheckFailed", "reason ValidationError"} {
		if answers[want] < 10 {
			t.Errorf("%s: %d times in all; these streams prove little", want, answers[want])
		}
	}
	if t.Failed() {
		t.Log(answers)
	}
}

// TestStreamIsItsSeed shows that a stream is the same for the same seed, and different for another
// seed.
func TestStreamIsItsSeed(t *testing.T) {
	one := twin.Describe(twin.Stream(1, length))
	must.Equal(t, twin.Describe(twin.Stream(1, length)), one)
	if other := twin.Describe(twin.Stream(2, length)); other == one {
		t.Error("two seeds have one stream")
	}
}

// TestWrongTwinIsFoundAndShrunk shows that a twin with one mistake is found, and that the requests
// that show it are few.
func TestWrongTwinIsFoundAndShrunk(t *testing.T) {
	for name, wrong := range map[string]func(api string, in any, call func() (any, error)) (any, error){
		"a condition is not looked at": func(_ string, in any, call func() (any, error)) (any, error) {
			if put, ok := in.(*dynamodb.PutItemInput); ok {
				put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = nil, nil, nil
			}
			return call()
		},
		"an update is done twice": func(api string, _ any, call func() (any, error)) (any, error) {
			if api == "UpdateItem" {
				_, _ = call()
			}
			return call()
		},
		"a removal that says it is done": func(api string, _ any, call func() (any, error)) (any, error) {
			if api == "DeleteItem" {
				return &dynamodb.DeleteItemOutput{}, nil
			}
			return call()
		},
		"a transaction that says it is done": func(api string, _ any, call func() (any, error)) (any, error) {
			if api == "TransactWriteItems" {
				return &dynamodb.TransactWriteItemsOutput{}, nil
			}
			return call()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := twins(t, embedded.Config{Intercept: func(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
				return wrong(api, in, call)
			}})
			for seed := range uint64(50) {
				ops := twin.Stream(seed, length)
				if w.Live(t.Context(), ops) == "" {
					continue
				}
				less := w.Shrink(t.Context(), ops)
				difference := w.Live(t.Context(), less)
				if difference == "" || len(less) > 3 {
					t.Errorf("seed %d: %d requests show it: %q", seed, len(less), difference)
				}
				t.Logf("seed %d: %s", seed, difference)
				return
			}
			t.Error("not found in 50 streams")
		})
	}
}

// TestWholeLeavesKnownDifferencesOut shows that a stream that ended in a difference does not make
// the tables differ for the other streams.
func TestWholeLeavesKnownDifferencesOut(t *testing.T) {
	lie := false
	w := twins(t, embedded.Config{Intercept: func(_ context.Context, api string, _ any, call func() (any, error)) (any, error) {
		if lie && api == "DeleteItem" {
			return &dynamodb.DeleteItemOutput{}, nil
		}
		return call()
	}})
	for seed := range uint64(20) {
		lie = seed == 7
		if difference := w.Live(t.Context(), twin.Stream(seed, length)); (difference != "") != lie {
			t.Errorf("seed %d: %q", seed, difference)
		}
	}
	if items, difference, err := w.Whole(t.Context()); err != nil || difference != "" || items < 50 {
		t.Errorf("%d items, %s, %v", items, difference, err)
	}
}
