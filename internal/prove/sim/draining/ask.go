package draining

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
)

// ask asks until there is an answer, and holds it against what is counted. In trouble, more may
// fail in a row than anybody waits for, so it asks twice there.
func (w *world) ask() {
	var before []string
	again := w.Calm
	for range 30 {
		before = slices.Clone(w.stored)
		_, err := w.question().Ask(context.Background())
		var unknown *drained.Unknown
		switch {
		case err == nil:
			if n := w.uncounted(before); n != "" {
				w.Fail(Unproven, "event %s was written before the question, and is not counted", n)
			}
			return
		case errors.As(err, &unknown):
			switch {
			case !w.well():
				return
			case again:
				w.Fail(Endless, "%v", err)
				return
			}
			again = true
			continue
		}
		w.Sleep(10 * time.Second) // a request has failed more often than the SDK repeats it
	}
	w.Fail(stage.Stuck, "no request of a question succeeds")
}

// well reports whether nothing stood still since somebody asked.
func (w *world) well() bool {
	for _, f := range w.fates {
		if f.until.After(w.asked) {
			return false
		}
	}
	for _, until := range w.hard {
		if until.After(w.asked) {
			return false
		}
	}
	return !w.silent.until.After(w.asked)
}

func (w *world) question() drained.Question {
	return drained.Question{Tables: tool{w}, Shards: tool{w},
		Events: stack.Events, Aggregates: stack.Aggregates, Function: "streams", Notes: fences.Streams, Patience: drained.Patience,
		Env: w.Env(w.Rng.Float64, 0),
		Mappings: func(context.Context) ([]pause.Mapping, error) {
			m := pause.Mapping{Source: w.arn, State: "Enabled", Factor: 1}
			if w.stands(w.silent) { // what stands still may not say so
				m.State = w.shown
			}
			return []pause.Mapping{m}, nil
		}}
}

// tool is AWS as the tool reaches it. The SDK repeats a request that fails.
type tool struct{ w *world }

func ask[I, O any](t tool, ctx context.Context, write bool, in I, call func(context.Context, I) (O, error)) (out O, err error) {
	for range 6 {
		out, err = stage.Request(&t.w.World, ctx, "tool", write, t.w.lateness, func() (O, error) { return call(t.w.Sent(), in) })
		if err == nil {
			break
		}
	}
	return out, err
}

func (t tool) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return ask(t, ctx, true, in, func(ctx context.Context, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		return t.w.engine.DynamoDB().PutItem(ctx, in)
	})
}

func (t tool) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return ask(t, ctx, false, in, func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		return t.w.engine.DynamoDB().Query(ctx, in)
	})
}

func (t tool) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return ask(t, ctx, false, in, func(ctx context.Context, in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
		return t.w.engine.DynamoDB().DescribeTable(ctx, in)
	})
}

func (t tool) DescribeStream(ctx context.Context, in *dynamodbstreams.DescribeStreamInput,
	_ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	shards := t.w.engine.Streams()
	return ask(t, ctx, false, in, func(ctx context.Context, in *dynamodbstreams.DescribeStreamInput) (*dynamodbstreams.DescribeStreamOutput,
		error) {
		return shards.DescribeStream(ctx, in)
	})
}
