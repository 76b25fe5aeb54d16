// Package lag says how far the streams function of a stack has counted: see package drained.
package lag

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify"
)

// Of returns a Lag that knows how far the streams function of a stack has got. It waits at most for
// as long as patience says, and tells what it waits for as p does.
func Of(t *target.Target, p pause.Pauser, patience time.Duration) verify.Lag {
	function := t.StreamsFunction
	if t.Kind == target.KindLocal {
		function = target.DevStreams
	}
	if function == "" {
		return noLag{}
	}
	var watch status.Watch // ingot dev has none
	if t.Kind != target.KindLocal {
		watch = t.CloudWatch()
	}
	return stackLag{watch, drained.Question{Tables: t.DynamoDB(), Shards: dynamodbstreams.NewFromConfig(t.AWS), Events: t.EventsTable,
		Aggregates: t.AggregatesTable, Function: function, Notes: fences.Streams, Patience: patience, Env: p.Env, Tell: p.Tell,
		Mappings: func(ctx context.Context) ([]pause.Mapping, error) { return pause.Read(ctx, p.Client, function) }}}
}

// stackLag asks how far the streams function has read its stream.
type stackLag struct {
	watch status.Watch
	drained.Question
}

func (l stackLag) Counted(ctx context.Context) (time.Time, error) {
	at, err := l.Ask(ctx)
	unknown := (*drained.Unknown)(nil)
	switch {
	case err == nil || ctx.Err() != nil:
	case !errors.As(err, &unknown):
		err = errors.New(show.Error(err)) // its text is all that is printed
	case unknown.Mapping.Off():
		err = fmt.Errorf("%w: ingot resume streams", err)
	case unknown.Why == "":
		err = fmt.Errorf("%w%s", err, l.throttled(ctx))
	}
	return at, err
}

// throttled says how many calls of the function Lambda has refused lately, as far as CloudWatch
// tells.
func (l stackLag) throttled(ctx context.Context) string {
	if l.watch == nil {
		return ""
	}
	n, err := status.Throttled(ctx, l.watch, l.Function, l.Env.Real().Now())
	if err != nil {
		return "; it is not known whether Lambda throttles it: " + show.Error(err)
	}
	return fmt.Sprintf("; Lambda has throttled %s of it in the last 15 minutes", show.Count(n, "call"))
}

// noLag is the Lag of a stack if only its tables are known.
type noLag struct{}

func (noLag) Counted(context.Context) (time.Time, error) {
	return time.Time{},
		errors.New("only the tables are known, and not the streams function: name the stack with --stack, or set INGOT_STREAMS_FUNCTION")
}
