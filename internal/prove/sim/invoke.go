package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// sandbox is one execution environment of a function. What it remembers lives from invocation to
// invocation.
type sandbox struct {
	function string
	epoch    int64
	longer   bool          // its pipeline keeps events longer
	wrong    bool          // its secret of hmac differs from that of the tables
	skew     time.Duration // of its clock
	plan     *pipeline.Pipeline
	store    *store.Store
	ingest   *handler.Ingest
	streams  *handler.Streams
	started  bool
	busy     bool
}

// invocation is one run of a function, with what checks keep of it.
type invocation struct {
	stage.Invocation
	copies int               // of one event: how many copies it may put one by one
	hot    int               // how many of its faults came from a hot key
	spent  map[string]*spent // by table and key
	// transactions counts the accepted transactions of the invocation.
	transactions int
	epoch        int64          // of its pipeline
	moves        int            // how many changes of objects there were when it began
	gets         map[string]int // reads of objects, by name
	heads        int            // how many states of [World.heads] there were when it began
	began        int            // how many records of events there were when it began
	messages     []events.SQSMessage
	kept         map[string]int  // bodies of letters that it knows are in quarantine
	unanswered   map[string]bool // by partition key and digest: whether a put of it got no answer
	wrote        map[write]int   // accepted writes of events, without those it has already reported
}

// upgraded returns the phase in which a function gets the newer pipeline; 0 means never.
func (w *World) upgraded(function string) int {
	if function == "ingest" && w.plan.Upgrade > 0 {
		return w.plan.Upgrade + 1
	}
	return w.plan.Upgrade
}

func (w *World) deployed(function string) bool {
	at := w.upgraded(function)
	return at > 0 && w.phase >= at
}

// rolledBackFor is how many invocations a roll-back of both functions lasts at most. Sooner or
// later old code meets what only new code can read, and then does nothing but fail.
const rolledBackFor = 50

// epochOf returns the epoch of the pipeline that a function's next invocation runs. While a newer
// pipeline is being deployed, both take turns. The streams function gets it first.
func (w *World) epochOf(function string) int64 {
	at := w.upgraded(function)
	switch {
	case !w.deployed(function):
		return 1
	case w.phase == at && w.plan.Canary && !w.Calm && w.Chance(0.5):
		return 1
	case w.phase == at+1 && w.plan.Back && !w.Calm && w.Chance(0.3):
		return 1
	case w.phase == w.plan.Withdrawn && !w.Calm && w.Faults[withdrawn] < rolledBackFor:
		w.Fault(withdrawn, function)
		return 1
	}
	return 2
}

// wrongSecret reports whether the next invocation of the ingest function has a secret that somebody
// made up. That happens only after something was stored under the right one.
func (w *World) wrongSecret() bool {
	if !w.plan.Secret || w.Calm || w.model.Inserted == 0 || !w.Chance(0.03) {
		return false
	}
	w.Fault(anotherSecret, "")
	return true
}

// roleOf returns the role of a function. A stack has one, also while old code runs beside new code.
func (w *World) roleOf(function string) *iam.Role {
	epoch := int64(1)
	if w.deployed("ingest") || w.deployed("streams") {
		epoch = 2
	}
	if w.roles[epoch] == nil {
		p := w.pipelineIn(w.edition(epoch))
		w.roles[epoch] = map[string]*iam.Role{"ingest": iam.Ingest(p), "streams": iam.Streams(p)}
	}
	return w.roles[epoch][function]
}

// sandboxFor returns an idle sandbox, or a new one, which is a cold start.
func (w *World) sandboxFor(function string) *sandbox {
	epoch := w.epochOf(function)
	if w.deployed(function) && epoch == 1 {
		w.Fault(canary, function)
	}
	long := w.lifetime.keepsLonger()
	wrong := function == "ingest" && w.wrongSecret()
	for _, s := range w.sandboxes {
		if s.function == function && s.epoch == epoch && s.longer == long && s.wrong == wrong && !s.busy && !w.Chance(0.1) {
			return s
		}
	}
	s := &sandbox{function: function, epoch: epoch, longer: long, wrong: wrong}
	of := w.edition(epoch)
	if long {
		of.notice = w.lifetime.notice
	}
	if wrong {
		of.secret = otherSecret
	}
	s.plan = w.pipelineIn(of)
	if function == "streams" && w.plan.Skew { // no count may depend on the clock of this machine
		s.skew = time.Duration(w.Rng.IntN(200)-100) * time.Hour
	}
	env := w.Env(w.Rng.Float64, s.skew)
	s.store = w.operators.storeWith(w.client(), s.plan, env)
	quarantine := quarantine.New(sender{w, epoch}, w.ingot.Quarantine)
	s.ingest, s.streams = w.ingot.Ingest(s.store), w.ingot.Streams(s.store)
	s.ingest.Quarantine = quarantine
	if w.plan.Pointers {
		s.ingest.Payloads = handler.NewPayloads(downloader{w}, largeBucket)
	}
	s.ingest.OnResult = func(_ context.Context, o handler.Outcome) { w.verdicts.judge(o) }
	s.ingest.OnBatch = func(_ context.Context, r handler.IngestReport) { w.verdicts.judgeReport(r) }
	s.streams.Quarantine, s.streams.Archive = quarantine, handler.NewArchive(uploader{w}, bucket)
	s.streams.ArchiveFiles = w.plan.Seed%4 > 0
	w.sandboxes = append(w.sandboxes, s)
	return s
}

var (
	errCrashed  = errors.New("the runtime was killed")
	errTimedOut = errors.New("the task timed out after 30 seconds")
)

// invoke runs a function as Lambda does. If its time is up, the function may linger: a request that
// it has sent may still arrive, and a frozen sandbox may thaw.
func (w *World) invoke(function string, run func(context.Context, *sandbox) ([]byte, error)) ([]byte, error) {
	if w.account.throttles() {
		return nil, errThrottled
	}
	w.stats.Invocations++
	s := w.sandboxFor(function)
	s.busy = true
	inv := &invocation{copies: 1, spent: map[string]*spent{},
		epoch: s.epoch, began: w.model.Records, moves: w.pointers.moves, heads: len(w.byPut.heads),
		wrote: map[write]int{}, kept: map[string]int{},
		unanswered: map[string]bool{}}
	inv.Invocation = stage.Invocation{Name: fmt.Sprintf("%s-%d", function, w.stats.Invocations), Deadline: w.Now.Add(functionTimeout),
		Role: w.roleOf(function), Skew: s.skew, Notes: inv}
	began := w.Now
	w.Begin(&inv.Invocation, func(ctx context.Context) (any, error) {
		answer, err := run(ctx, s)
		s.busy = false
		w.Tracef("answers %s %v", answer, err)
		return answer, err
	})
	w.Wait(&inv.Invocation)
	switch {
	case inv.Crashed:
		w.drop(s)
		return nil, errCrashed
	case inv.Done:
		w.heat.checkHotKey(inv, w.Now.Sub(began))
		return inv.Answer.([]byte), inv.Err
	}
	w.Fault(stage.TimedOut, inv.Name)
	if w.Chance(0.5) {
		inv.Crashed = true // the sandbox is torn down; otherwise it lingers
		w.drop(s)
	}
	return nil, errTimedOut
}

func (w *World) drop(s *sandbox) {
	w.sandboxes = slices.DeleteFunc(w.sandboxes, func(other *sandbox) bool { return other == s })
}

// ingest runs the ingest function as its mapping calls it.
func (w *World) ingest(_ context.Context, payload []byte) ([]byte, error) {
	return w.invoke("ingest", func(ctx context.Context, s *sandbox) ([]byte, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		w.stats.Deliveries += len(e.Records)
		inv := invocationOf(w.Current)
		inv.messages = e.Records
		switch {
		case w.plan.FIFO:
			inv.copies = w.arrays.countEvents(e.Records)
		case w.plan.Pointers:
			inv.copies = 2 // what messages point to is put after the others
		}
		response, err := s.ingest.Handle(ctx, e)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	})
}

// streams runs the streams function as its mapping calls it.
func (w *World) streams(_ context.Context, payload []byte) ([]byte, error) {
	answer, err := w.count(payload)
	if err == nil && string(answer) != "" {
		w.counted++
		w.batches = append(w.batches, delivered{w.counted, w.Now, payload})
	}
	return answer, err
}

func (w *World) count(payload []byte) ([]byte, error) {
	return w.invoke("streams", func(ctx context.Context, s *sandbox) ([]byte, error) {
		if !s.started {
			if err := s.streams.Start(ctx); err != nil {
				w.operators.checkStart(err)
				return nil, err
			}
			s.started = true
		}
		response, err := s.streams.Handle(ctx, w.packing.formFor(s.epoch, payload))
		if err != nil {
			w.stuck.readError(err)
			return nil, err
		}
		w.trouble.settledOdd(payload, response, s.plan)
		w.stuck.settledGivenUp(payload, response, s.plan)
		return json.Marshal(response)
	})
}

// delivered is a batch that the stream has delivered. It is kept so that it can be delivered again.
type delivered struct {
	n       int // of the batches that were counted
	at      time.Time
	payload []byte
}
