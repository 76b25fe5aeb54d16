package ingottest

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/testworld"
)

// invoked returns a function's handler. While it runs, its faults can happen.
func (w *World) invoked(f Function, s *testworld.Sandbox) esm.Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		w.faults.running = f
		defer func() { w.faults.running = none }()
		return s.Invoke(ctx, payload)
	}
}

func (w *World) coldIngest(context.Context) (esm.Handler, error) {
	st, err := w.world.Store(w.plan)
	if err != nil {
		return nil, err
	}
	in := w.world.Ingest(st)
	in.Payloads = handler.NewPayloads(w.world.Engine.S3(), largePayloads)
	in.OnResult = func(ctx context.Context, o handler.Outcome) {
		w.verdicts[o.Verdict]++
		if o.Failed && o.Refusal != nil {
			w.lastError = o.Refusal
		}
		if w.config.OnResult != nil {
			w.config.OnResult(iam.As(ctx, nil), o)
		}
	}
	return lambda.NewHandler(in.Handle).Invoke, nil
}

func (w *World) coldStreams(ctx context.Context) (esm.Handler, error) {
	st, err := w.world.Store(w.plan)
	if err != nil {
		return nil, err
	}
	streams := w.world.Streams(st)
	if err := streams.Start(ctx); err != nil {
		return nil, err
	}
	streams.OnChange = w.changed
	return lambda.NewHandler(streams.Handle).Invoke, nil
}

// changed calls the hook and keeps its error. Otherwise only the function's log would have it. A
// hook may send what the role of its own template allows, which is not known here.
func (w *World) changed(ctx context.Context, c event.Change) error {
	if w.config.OnChange == nil {
		return nil
	}
	err := w.config.OnChange(iam.As(ctx, nil), c)
	if err != nil {
		w.lastError = fmt.Errorf("Config.OnChange, told that %s was %s: %w", c.Key, happened[c.Kind], err)
	}
	return err
}

var happened = map[event.ChangeKind]string{event.Insert: "inserted", event.Modify: "modified", event.Remove: "removed"}
