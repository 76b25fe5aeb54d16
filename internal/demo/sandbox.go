package demo

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/stack"
)

// sandbox runs one of the two functions as Lambda does: it starts cold, stays warm from one invocation to
// the next, and after it was killed starts cold again with nothing in memory.
type sandbox struct {
	world    *world
	function string
	// typicalCalls is about how many requests an invocation sends: a kill falls among so many.
	typicalCalls int
	kill, refuse kind // what a kill and a refusal of all its requests are called
	cold         func(ctx context.Context) (handle, error)
	count        func(payload []byte) // takes note of what is delivered
	imitate      func(payload []byte) // lets plain ADDs count it
	onKill       func(payload []byte)
	onRefusal    func(payload []byte) // the table is about to refuse everything

	warm     handle // nil: cold
	killed   bool   // the last invocation was
	requests int    // to DynamoDB
}

type handle func(ctx context.Context, payload []byte) ([]byte, error)

var errKilled = errors.New("the sandbox was killed")

// invoke is one invocation. Everything in it runs on this goroutine, so a panic ends all of it: nothing of a
// killed invocation writes later.
func (s *sandbox) invoke(ctx context.Context, payload []byte) (answer []byte, err error) {
	s.killed = false
	s.count(payload)
	if s.warm == nil {
		if s.warm, err = s.cold(ctx); err != nil {
			return nil, err
		}
	}
	s.world.trouble.begin(s.function, s.typicalCalls, &s.requests, s.kill, s.refuse)
	if s.world.trouble.in.refused {
		s.onRefusal(payload)
	} else {
		s.imitate(payload)
	}
	defer func() {
		stored := s.world.trouble.end()
		r := recover()
		if _, ours := r.(killed); ours {
			s.world.ledger.unheard += stored
			s.warm, s.killed = nil, true
			s.onKill(payload)
			answer, err = nil, errKilled
		} else if r != nil {
			panic(r)
		}
	}()
	return s.warm(ctx, payload)
}

// newIngest is the ingest function.
func newIngest(w *world) *sandbox {
	s := &sandbox{world: w, function: "ingest", typicalCalls: 5, kill: ingestKilled, refuse: ingestRefused}
	s.cold = func(context.Context) (handle, error) {
		st, err := w.open()
		if err != nil {
			return nil, err
		}
		in := &handler.Ingest{Plan: w.plan, Store: st, Quarantine: handler.SQSIn(w.env(), w.engine.SQS(), w.Quarantine), Env: w.env(),
			OnResult: func(_ context.Context, o handler.Outcome) { w.ledger.outcome(o) }}
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			var e events.SQSEvent
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}
			response, err := in.Handle(ctx, e)
			if err != nil {
				return nil, err
			}
			return json.Marshal(response)
		}, nil
	}
	s.count = func(payload []byte) { w.ledger.deliveries += len(messages(payload)) }
	s.imitate = func(payload []byte) {
		for _, m := range messages(payload) {
			w.perMessage.message(m.Body)
		}
	}
	s.onKill = func(payload []byte) {
		var ids []string
		for _, m := range messages(payload) {
			ids = append(ids, m.ID)
		}
		w.ledger.unjudged += len(ids)
		w.ledger.comeBack(ingestKilled, ids)
	}
	s.onRefusal = func([]byte) { w.ledger.happened(ingestRefused, 0) }
	return s
}

// message is what the demo's own book-keeping reads of one message of a batch.
type message struct {
	ID   string `json:"messageId"`
	Body string `json:"body"`
}

func messages(payload []byte) []message {
	var e struct{ Records []message }
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil
	}
	return e.Records
}

// newStreams is the streams function.
func newStreams(w *world) *sandbox {
	s := &sandbox{world: w, function: "streams", typicalCalls: 30, kill: streamsKilled, refuse: streamsRefused}
	s.cold = func(ctx context.Context) (handle, error) {
		st, err := w.open()
		if err != nil {
			return nil, err
		}
		if err := st.Start(ctx); err != nil {
			return nil, err
		}
		streams := &handler.Streams{Plan: w.plan, Store: st, Env: w.env(), Archive: handler.S3(w.engine.S3(), stack.Bucket),
			Quarantine: handler.SQSIn(w.env(), w.engine.SQS(), w.Quarantine), OnChange: w.changed, OnBatch: w.counted}
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			response, err := streams.Handle(ctx, payload)
			if err != nil {
				return nil, err
			}
			return json.Marshal(response)
		}, nil
	}
	s.count = func([]byte) {}   // the mapping's faults do: only they know the shard
	s.imitate = func([]byte) {} // OnChange does: it is called for every delivery of a change
	s.onKill = func(payload []byte) { w.ledger.happened(streamsKilled, records(payload)) }
	s.onRefusal = func(payload []byte) { w.ledger.happened(streamsRefused, records(payload)) }
	return s
}

// changed lets plain ADDs count a delivered change, unless the table refuses them as well.
func (w *world) changed(_ context.Context, c event.Change) error {
	if !w.trouble.in.refused {
		w.perChange.change(&c)
	}
	return nil
}

func (w *world) counted(_ context.Context, r handler.StreamsReport) {
	w.ledger.updates += r.Updates
	w.ledger.dropped += r.Dropped
}

// records is how many changes a stream batch holds.
func records(payload []byte) int {
	var e struct{ Records []json.RawMessage }
	if err := json.Unmarshal(payload, &e); err != nil {
		return 0
	}
	return len(e.Records)
}
