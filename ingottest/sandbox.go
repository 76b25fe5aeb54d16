package ingottest

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/lambda/esm"
	"github.com/ingot-events/ingot/internal/stack"
)

// sandbox runs a function as Lambda does: it starts cold, stays warm, and starts cold again after it was killed.
type sandbox struct {
	world    *World
	function Function
	cold     func(context.Context) (esm.Handler, error)
	warm     esm.Handler
}

// killed is what a function panics with when it is killed. Everything in it runs on this goroutine, so nothing
// of it goes on.
type killed struct{}

var errKilled = errors.New("the function was killed")

func (s *sandbox) invoke(ctx context.Context, payload []byte) (answer []byte, err error) {
	s.world.faults.running = s.function
	defer func() {
		s.world.faults.running = none
		r := recover()
		if _, ours := r.(killed); ours {
			s.warm, answer, err = nil, nil, errKilled
		} else if r != nil {
			panic(r)
		}
	}()
	if s.warm == nil {
		if s.warm, err = s.cold(ctx); err != nil {
			return nil, err
		}
	}
	return s.warm(ctx, payload)
}

func (w *World) coldIngest(context.Context) (esm.Handler, error) {
	st, err := w.open(w.plan)
	if err != nil {
		return nil, err
	}
	in := &handler.Ingest{Plan: w.plan, Store: st, Env: w.env(), Quarantine: handler.SQSIn(w.env(), w.engine.SQS(), w.stack.Quarantine),
		OnResult: func(ctx context.Context, o handler.Outcome) {
			w.verdicts[o.Verdict]++
			if o.Failed && o.Refusal != nil {
				w.lastError = o.Refusal
			}
			if w.config.OnResult != nil {
				w.config.OnResult(ctx, o)
			}
		}}
	return lambda.NewHandler(in.Handle).Invoke, nil
}

func (w *World) coldStreams(ctx context.Context) (esm.Handler, error) {
	st, err := w.open(w.plan)
	if err != nil {
		return nil, err
	}
	if err := st.Start(ctx); err != nil {
		return nil, err
	}
	streams := &handler.Streams{Plan: w.plan, Store: st, Env: w.env(), Quarantine: handler.SQSIn(w.env(), w.engine.SQS(), w.stack.Quarantine),
		Archive: handler.S3(w.engine.S3(), stack.Bucket), OnChange: w.changed}
	return lambda.NewHandler(streams.Handle).Invoke, nil
}

// changed is the hook, whose error would otherwise be known to the function's log alone.
func (w *World) changed(ctx context.Context, c event.Change) error {
	if w.config.OnChange == nil {
		return nil
	}
	err := w.config.OnChange(ctx, c)
	if err != nil {
		w.lastError = fmt.Errorf("Config.OnChange, told that %s was %s: %w", c.Key, happened[c.Kind], err)
	}
	return err
}

var happened = map[event.ChangeKind]string{event.Insert: "inserted", event.Modify: "modified", event.Remove: "removed"}
