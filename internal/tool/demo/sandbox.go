package demo

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/testworld"
)

// sandbox is one of the two functions as Lambda runs it, with the trouble that happens to it.
type sandbox struct {
	testworld.Sandbox
	world *world
	// typicalCalls is about how many requests an invocation sends. A kill happens at one of them.
	typicalCalls int
	kill, refuse kind                 // the names of a kill, and of a refusal of all requests
	count        func(payload []byte) // notes what is delivered
	imitate      func(payload []byte) // counts the payload with plain ADDs
	onKill       func(payload []byte)
	onRefusal    func(payload []byte) // called when the table is about to refuse everything

	requests int // requests to DynamoDB
	batches  int // invocations that were given something
}

// invoke makes one invocation. No trouble happens to a cold start.
func (s *sandbox) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if records(payload) > 0 {
		s.batches++
	}
	s.count(payload)
	if err := s.Warm(ctx); err != nil {
		return nil, err
	}
	s.world.trouble.begin(s.typicalCalls, &s.requests, s.kill, s.refuse)
	if s.world.trouble.in.refused {
		s.onRefusal(payload)
	} else {
		s.imitate(payload)
	}
	answer, err := s.Invoke(ctx, payload)
	if stored := s.world.trouble.end(); s.Killed {
		s.world.ledger.unheard += stored
		s.onKill(payload)
	}
	return answer, err
}

// newIngest returns the ingest function.
func newIngest(w *world) *sandbox {
	s := &sandbox{world: w, typicalCalls: 5, kill: ingestKilled, refuse: ingestRefused}
	// The payload is parsed once, for the function and for the demo's own records.
	var batch events.SQSEvent
	var unread error
	s.Cold = func(context.Context) (esm.Handler, error) {
		st, err := w.Store(w.plan)
		if err != nil {
			return nil, err
		}
		in := w.Ingest(st)
		in.OnResult = func(_ context.Context, o handler.Outcome) {
			w.ledger.outcome(o)
			for _, one := range append(o.Events, o) {
				if one.Verdict == event.Rejected && one.Item != nil {
					w.bounds.refused[one.Item.Key] = true
				}
			}
		}
		return func(ctx context.Context, _ []byte) ([]byte, error) {
			if unread != nil {
				return nil, unread
			}
			response, err := in.Handle(ctx, batch)
			if err != nil {
				s.unjudged(&batch, ingestRefused)
				return nil, err
			}
			return json.Marshal(response)
		}, nil
	}
	s.count = func(payload []byte) {
		batch = events.SQSEvent{}
		unread = json.Unmarshal(payload, &batch)
		w.ledger.deliveries += len(batch.Records)
	}
	s.imitate = func([]byte) {
		for i := range batch.Records {
			w.perMessage.message(handler.MessageOf(&batch.Records[i]))
		}
	}
	s.onKill = func([]byte) { s.unjudged(&batch, ingestKilled) }
	s.onRefusal = func([]byte) { w.ledger.happened(ingestRefused, 0) }
	return s
}

// unjudged notes a batch that came to no verdicts, because of k.
func (s *sandbox) unjudged(batch *events.SQSEvent, k kind) {
	var ids []string
	for i := range batch.Records {
		ids = append(ids, batch.Records[i].MessageId)
	}
	s.world.ledger.unjudged += len(ids)
	if k == ingestKilled {
		s.world.ledger.comeBack(k, ids)
		return
	}
	for _, id := range ids { // the refusal itself has been counted
		s.world.ledger.touch(k, id)
	}
}

// newStreams returns the streams function.
func newStreams(w *world) *sandbox {
	s := &sandbox{world: w, typicalCalls: 30, kill: streamsKilled, refuse: streamsRefused}
	s.Cold = func(ctx context.Context) (esm.Handler, error) {
		st, err := w.Store(w.plan)
		if err != nil {
			return nil, err
		}
		streams := w.Streams(st)
		streams.ArchiveFiles = true // as template.yaml has it
		if err := streams.Start(ctx); err != nil {
			return nil, err
		}
		streams.OnChange, streams.OnBatch = w.changed, w.counted
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			response, err := streams.Handle(ctx, payload)
			if err != nil {
				return nil, err
			}
			return json.Marshal(response)
		}, nil
	}
	s.count = func([]byte) {}   // the mapping's faults do this, because only they know the shard
	s.imitate = func([]byte) {} // OnChange does this: it is called for every delivery of a change
	s.onKill = func(payload []byte) { w.ledger.happened(streamsKilled, records(payload)) }
	s.onRefusal = func(payload []byte) { w.ledger.happened(streamsRefused, records(payload)) }
	return s
}

// changed counts a delivered change with plain ADDs, unless the table refuses them as well.
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

// records returns how many changes a stream batch holds.
func records(payload []byte) int {
	var e struct{ Records []json.RawMessage }
	if err := json.Unmarshal(payload, &e); err != nil {
		return 0
	}
	return len(e.Records)
}
