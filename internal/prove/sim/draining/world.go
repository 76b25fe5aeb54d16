// Package draining runs random worlds in which a tool asks whether all that was written has been
// counted. Shards split and roll while the function is behind, records show late, batches fail in
// part or come again, functions die, a mapping falls silent, and fences are lost. The answer may be
// "unknown", but never a wrong "yes". In a world that is well it is "yes", at the latest when the
// tool asks again. A seed always makes the same world.
package draining

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// These are the promises that a world checks.
const (
	Unproven stage.Check = "unproven" // the answer is yes, and something that was written before is not counted
	Endless  stage.Check = "endless"  // nothing is wrong with the mapping, and the answer is not yes
)

// Each event has a total of its own, so a total says that its event is counted.
const pipe = `ingot: 1
epoch: 1
type: "{type}"
events:
  tick: {id: "{tick}", at: "{at | unix}", key: {pk: "TICK#{tick}", sk: "TICK"}}
aggregates:
  ticks: {since: 1, by: {tick: "{tick}"}, from: {tick: {values: {ticks: count}}}}
`

// fate is what becomes of a shard: the mapping cannot call the function for it for a while.
type fate struct{ from, until time.Time }

type world struct {
	stage.World
	engine    *embedded.Engine
	pipeline  *pipeline.Pipeline
	role      *iam.Role // of the function
	stream    *esm.Stream
	arn       string
	receipts  bool                 // batches name no shard
	ill       bool                 // some shards stand still for a while
	silent    fate                 // the mapping as a whole calls nobody
	shown     string               // its state meanwhile
	fates     map[string]fate      // by shard
	stored    []string             // the events that are proven stored
	hard      map[string]time.Time // by key: until when the function cannot do it
	hardness  float64
	busy      bool // events are written without end
	asked     time.Time
	unordered bool // the mapping reads children before their parents, which Lambda does not
}

// odds are how many requests meet what.
var odds = stage.Odds{Dies: 0.02, Throttled: 0.04, Unanswered: 0.05, Late: 0.03, Lost: 0.03}

// Live lives the world of a seed to its end. In a still one, nothing goes wrong.
func Live(seed uint64, still bool) stage.Result { return live(seed, still, false) }

func live(seed uint64, still, unordered bool) stage.Result {
	w := &world{World: stage.World{Rng: rand.New(rand.NewPCG(seed, 47)), Calm: still, Odds: odds}, unordered: unordered,
		fates: map[string]fate{}, hard: map[string]time.Time{}}
	w.Now = stage.Origin
	defer w.KillAll()
	w.Must(w.build(seed))
	if w.Failure == nil {
		w.lives()
	}
	return w.Result()
}

func (w *world) build(seed uint64) error {
	deployed, err := w.Deploy(embedded.Config{Seed: seed, Partitions: 1 + w.Rng.IntN(4)}, stack.Config{})
	if err != nil {
		return err
	}
	w.engine, w.arn = deployed.Engine, deployed.StreamARN
	if w.pipeline, err = pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(pipe)}}, "p.yaml"); err != nil {
		return err
	}
	w.role = iam.Streams(w.pipeline)
	w.Person = stage.Person("", "pause")
	if !w.Calm && w.Chance(0.3) {
		w.hardness = 0.01
	}
	w.receipts, w.ill, w.busy = w.Chance(0.3), !w.Calm && w.Chance(0.4), w.Chance(0.3)
	window, sizes := time.Minute, []int{1, 5, 40}
	if w.receipts {
		window = 0
	}
	if w.receipts || w.busy {
		sizes = sizes[1:] // one record at a time would never keep up
	}
	w.stream, err = deployed.MapStream(esm.StreamConfig{Client: streams{w.engine.Streams(), w, map[string]string{}},
		BatchSize: sizes[w.Rng.IntN(len(sizes))], Window: window,
		Function: esm.Function{Handler: w.count, Timeout: stage.FunctionTimeout}})
	return err
}

// client is DynamoDB as the functions and the tool reach it.
func (w *world) client() tables.Client {
	return &stage.Client{World: &w.World, DB: w.engine.DynamoDB(), Late: w.lateness, Page: 40}
}

// config is what a process is made from.
func (w *world) config(client tables.Client) tables.Config {
	c := w.Tables(client, w.pipeline)
	if w.receipts {
		c.Counting = aggregate.Receipts
	}
	return c
}

func (w *world) store(client tables.Client) *store.Store {
	st, err := store.New(w.config(client))
	w.Must(err)
	return st
}

// lateness draws how long a write is on its way after its sender has given it up.
func (w *world) lateness() time.Duration { return time.Duration(w.Rng.IntN(300)) * time.Second }

// count is the streams function behind its mapping.
func (w *world) count(_ context.Context, payload []byte) ([]byte, error) {
	return w.Invoke(w.role, func(ctx context.Context) (any, error) {
		h, err := handler.NewStreams(w.config(w.client()))
		w.Must(err)
		h.OnChange = func(_ context.Context, c event.Change) error {
			if w.Now.Before(w.hard[c.Key.PK]) {
				return errors.New("not now")
			}
			return nil
		}
		if err := h.Start(ctx); err != nil {
			return nil, err
		}
		return h.Handle(ctx, json.RawMessage(payload))
	})
}

// poll runs the mapping. Each shard goes on by itself.
func (w *world) poll() {
	for {
		w.Sleep(time.Duration(1+w.Rng.IntN(5)) * time.Second)
		if w.stands(w.silent) {
			continue
		}
		rounds, _, err := w.stream.Due(context.Background())
		if w.Must(err); err != nil {
			return
		}
		before := w.stream.Checkpoint()
		for _, round := range rounds {
			w.Spawn("shard", nil, func() { round.Do(context.Background()) })
		}
		if !w.Calm && w.Chance(0.05) {
			w.Pause()
			w.stream.Restore(before) // its success is forgotten
		}
	}
}

func (w *world) stands(f fate) bool { return !w.Now.Before(f.from) && w.Now.Before(f.until) }

// put stores an event. It stays on the way for no time, so that it is known when it was written.
func (w *world) put() {
	n := fmt.Sprint(len(w.stored))
	item, err := w.pipeline.Plan(envelope.Message{Body: fmt.Sprintf(`{"type":"tick","tick":"%s","at":%d}`, n, w.Now.Unix())})
	if w.Must(err); err != nil {
		return
	}
	result, _ := w.store(w.engine.DynamoDB()).Put(context.Background(), []*event.Item{item})
	if !result[0].Verdict.Stored() {
		w.Fail(stage.Broken, "an event is not stored: %v", result[0].Verdict)
	}
	w.stored = append(w.stored, n)
	if w.hardness > 0 && w.Chance(w.hardness) {
		w.hard["TICK#"+n] = w.Now.Add(10 * time.Minute)
	}
}
