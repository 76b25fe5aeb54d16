package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// sandbox is one execution environment of a function. It serves one invocation after the other,
// until it dies or another version is deployed.
type sandbox struct {
	function string
	plan     *pipeline.Pipeline
	store    *store.Store
	ingest   *handler.Ingest
	streams  *handler.Streams
	started  bool
	busy     bool
}

// invocation is one run of a function. It is a coroutine, so it can be frozen in the middle of a
// request while everything else goes on.
type invocation struct {
	name    string
	payload []byte
	next    func() (struct{}, bool)
	stop    func()
	freeze  func(struct{}) bool
	quiet   bool // its requests are not reported, and no trouble happens to them

	frozen, crashed bool
	answer          []byte
	err             error
}

// dead unwinds an invocation whose process has died.
type dead struct{}

var (
	errCrashed  = errors.New("the process died")
	errTimedOut = errors.New("timed out after 30 s")
)

func (w *world) sandboxOf(function string) (*sandbox, error) {
	for _, s := range w.sandboxes {
		if s.function == function && s.plan == w.plans[function] && !s.busy {
			return s, nil
		}
	}
	st, err := w.store(function)
	if err != nil {
		return nil, err
	}
	s := &sandbox{function: function, plan: w.plans[function], store: st}
	s.ingest, s.streams = w.Ingest(st), w.Streams(st)
	s.ingest.OnResult = w.judged
	w.sandboxes = append(w.sandboxes, s)
	return s, nil
}

// invoke runs a function until it answers, dies or is frozen. Lambda gives up a frozen function
// when its time is over.
func (w *world) invoke(function string, payload []byte, run func(context.Context, *sandbox) (any, error)) ([]byte, error) {
	s, err := w.sandboxOf(function)
	if err != nil {
		return nil, err
	}
	s.busy = true
	inv := &invocation{name: w.nextName(function), payload: payload}
	w.invocations = append(w.invocations, inv)
	w.out.linef("%s%s", inv.name, w.versions(s.plan))
	ctx, _ := w.deadline(context.Background(), w.Clock.Now().Add(functionTimeout))
	inv.next, inv.stop = iter.Pull(func(yield func(struct{}) bool) {
		inv.freeze = yield
		defer func() {
			if r := recover(); r != nil && r != (dead{}) {
				panic(r)
			}
		}()
		answer, err := run(ctx, s)
		if inv.answer, inv.err = nil, err; err == nil {
			inv.answer, inv.err = json.Marshal(answer)
		}
		s.busy = false
	})
	return w.resume(inv)
}

func (w *world) nextName(function string) string {
	n := 1
	for _, earlier := range w.invocations {
		if strings.HasPrefix(earlier.name, function) {
			n++
		}
	}
	return fmt.Sprintf("%s-%d", function, n)
}

// resume lets an invocation go on.
func (w *world) resume(inv *invocation) ([]byte, error) {
	outer := w.running
	w.running, inv.frozen = inv, false
	_, inv.frozen = inv.next()
	w.running = outer
	switch {
	case inv.frozen:
		w.Clock.Pass(functionTimeout)
		w.out.linef("  > no answer: %s is frozen, and has timed out", inv.name)
		return nil, errTimedOut
	case inv.crashed:
		w.out.linef("  > no answer: %s died", inv.name)
		return nil, errCrashed
	}
	return inv.answer, inv.err
}

// versions says which epoch runs, if there is more than one.
func (w *world) versions(plan *pipeline.Pipeline) string {
	if len(w.sandboxes) > 0 && w.plans["ingest"] == w.plans["streams"] && plan.Epoch() == 1 {
		return ""
	}
	return fmt.Sprintf(" at epoch %d", plan.Epoch())
}

// ingest runs the ingest function as its mapping calls it.
func (w *world) ingest(_ context.Context, payload []byte) ([]byte, error) {
	return w.invoke("ingest", payload, func(ctx context.Context, s *sandbox) (any, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		w.received(e.Records)
		response, err := s.ingest.Handle(ctx, e)
		if err == nil {
			w.answeredMessages(response)
		} else {
			w.out.linef("  > failed: %s", w.names.people(err.Error(), 130))
		}
		return response, err
	})
}

// count runs the streams function as its mapping calls it.
func (w *world) count(_ context.Context, payload []byte) ([]byte, error) {
	return w.invoke("streams", payload, func(ctx context.Context, s *sandbox) (any, error) {
		w.delivered(payload)
		err := w.start(ctx, s)
		var response handler.StreamResponse
		if err == nil {
			response, err = s.streams.Handle(ctx, payload)
		}
		w.answeredChanges(payload, response, err)
		return response, err
	})
}

// start makes the cold start of a streams function, or lets the function look at what the table
// counts now. What it reads and writes is not reported.
func (w *world) start(ctx context.Context, s *sandbox) error {
	w.running.quiet = true
	defer func(inv *invocation) { inv.quiet = false }(w.running)
	if s.started {
		_, err := s.streams.Handle(ctx, []byte(`{"Records":[],"shardId":"none"}`))
		return err
	}
	err := s.streams.Start(ctx)
	s.started = err == nil
	return err
}
