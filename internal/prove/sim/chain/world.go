// Package chain runs random worlds in which one Ingot publishes what it stores, and a second one
// ingests that. Requests are lost, late and refused, functions die, batches come twice and are cut
// differently, a target stands still for half a day, and an operator publishes everything again. At
// rest, the second Ingot must hold and count each event once. A third party hears of orders only
// when they cost something else than before. A seed always makes the same world.
package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// These are the promises that a world checks.
const (
	Unsent  stage.Check = "unsent"      // an event that the first stores is not what the second stores
	Doubled stage.Check = "doubled"     // the second stores an event that the first never stored, or one twice
	Wrong   stage.Check = "wrong-total" // the totals of the second are not the sum over the events
	Unruly  stage.Check = "unruly"      // of one key, a later version is published before an earlier one
	Noise   stage.Check = "noise"       // a touch, an expiry or what does not meet `when` is published
	Untold  stage.Check = "untold"      // a person has removed an event, and nobody is told
)

const (
	// An order has a key of its own, and versions. A visit has nothing that says which one it is,
	// so its key at the second Ingot is the id of the CloudEvent.
	first = `ingot: 1
epoch: %d
type: "{type}"
events:
  order:
    id: "{order}"
    at: "{at}"
    mode: latest
    revision: version number
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  visit: {id: "{visit}", at: "{at}", retain: 2d, key: {pk: "VISIT#{visit}", sk: "VISIT"}}
`
	second = `ingot: 1
epoch: 1
events:
  order:
    id: "{order}"
    at: "{at}"
    mode: latest
    revision: version number
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  visit: {key: {pk: "VISIT#{@id}", sk: "VISIT"}}
aggregates:
  orders: {since: 1, onExpire: subtract, from: {order: {values: {orders: count, spent: sum spent}}}}
  visits: {since: 1, from: {visit: {values: {visits: count}}}}
`
	declared = `publish: 1
source: first
publications:
  second: {from: [order, visit], to: "arn:aws:sqs:eu-west-1:000000000000:second.fifo"}
  audit: {from: [order, visit], on: [removed], to: "arn:aws:sqs:eu-west-1:000000000000:audit.fifo"}
  costs: {from: [order], when: changed(spent), before: true, to: "arn:aws:sqs:eu-west-1:000000000000:costs.fifo"}
`
)

// message is one message to a queue.
type message struct{ queue, id, group, body string }

// cloud is what a message says.
type cloud struct {
	Change string
	PK     string
	Before string
	Data   struct {
		Order, Visit   string
		Version, Spent int
	}
}

// order is what is stored of an order, or was last.
type order struct{ version, spent int }

type world struct {
	stage.World
	ingots    [2]*testworld.World
	pipelines [2]*pipeline.Pipeline
	streams   []*esm.Stream
	still     bool
	idle      bool                    // hours go by in which nothing is written
	blocked   string                  // the group of the key that the target refuses
	until     time.Time               // and until when
	refused   map[string]time.Time    // by id: until when a message is refused
	waiting   []message               // those that the second has not ingested
	newest    map[string]int          // by order: the last version that was published
	told      map[string]bool         // keys of removals that were published
	sent      int                     // messages that were taken
	taken     map[[2]string]time.Time // by queue and id: when
	costs     map[string][]int        // by order: what each version has spent
	heard     map[string]map[int]bool // by order: the versions that costs was told
	letters   []quarantine.Record     // records that were given up
	orders    map[string]order        // what the first stores: the truth
	visits    map[string]bool         // that the first has ever stored
	removed   map[string]bool         // by a person
}

// Live lives the world of a seed to its end. In a still one, nothing goes wrong.
func Live(seed uint64, still bool) stage.Result {
	w := &world{World: stage.World{Rng: rand.New(rand.NewPCG(seed, 43)), Calm: still, Odds: odds}, still: still,
		newest: map[string]int{}, told: map[string]bool{},
		taken: map[[2]string]time.Time{}, costs: map[string][]int{}, heard: map[string]map[int]bool{}, refused: map[string]time.Time{},
		orders: map[string]order{}, visits: map[string]bool{}, removed: map[string]bool{}}
	w.Now = stage.Origin
	defer w.KillAll()
	w.Must(w.build(seed))
	if w.Failure == nil {
		w.lives()
	}
	return w.Result()
}

func load(text string) (*pipeline.Pipeline, error) {
	return pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(text)}}, "p.yaml")
}

func (w *world) build(seed uint64) error {
	for i, text := range []string{fmt.Sprintf(first, 1), second} {
		p, err := load(text)
		if err != nil {
			return err
		}
		w.pipelines[i] = p
		w.ingots[i], err = w.Deploy(embedded.Config{Seed: seed + uint64(i), RollAfter: time.Duration(2+i) * time.Hour}, stack.Config{})
		if err != nil {
			return err
		}
		// The second counts by marks, which needs a window.
		function, window := w.publish, time.Duration(0)
		if i == 1 {
			function, window = w.count, time.Minute
		}
		stream, err := w.ingots[i].MapStream(esm.StreamConfig{BatchSize: 1 + w.Rng.IntN(12), Window: window,
			Function: esm.Function{Handler: function, Timeout: stage.FunctionTimeout}})
		if err != nil {
			return err
		}
		w.streams = append(w.streams, stream)
		w.Spawn("poller", nil, func() { w.poll(stream) })
	}
	w.Spawn("queue", nil, w.deliver)
	return nil
}

// config is what a process of one of the two is made from.
func (w *world) config(i int) tables.Config {
	return w.Tables(w.client(w.ingots[i].Engine), w.pipelines[i])
}

func (w *world) store(i int) *store.Store {
	st, err := store.New(w.config(i))
	w.Must(err)
	return st
}

func (w *world) publisher() *publish.Publisher {
	plan, err := publish.Load(fstest.MapFS{"p.yaml": {Data: []byte(declared)}}, "p.yaml", w.pipelines[0])
	w.Must(err)
	p, err := publish.New(plan, w.config(0), func(arn string) publish.Target { return publish.Queue(queue{w}, arn) })
	w.Must(err)
	p.Quarantine = letters{w}
	return p
}

// letters is the quarantine of the publisher.
type letters struct{ w *world }

func (l letters) Send(ctx context.Context, list []quarantine.Letter) []error {
	_, err := stage.Request(&l.w.World, ctx, "SendMessageBatch", true, l.w.lateness, func() (int, error) {
		if !l.w.Calm && l.w.Chance(0.3) {
			return 0, stage.ErrLost
		}
		for _, letter := range list {
			var r quarantine.Record
			l.w.Must(json.Unmarshal([]byte(letter.Body), &r))
			l.w.letters = append(l.w.letters, r)
		}
		return 0, nil
	})
	return slices.Repeat([]error{err}, len(list))
}

// publish is the publish function behind its mapping.
func (w *world) publish(_ context.Context, payload []byte) ([]byte, error) {
	p := w.publisher()
	return w.Invoke(iam.Publish(w.pipelines[0]), func(ctx context.Context) (any, error) { return p.Handle(ctx, payload) })
}

// count is the streams function of the second behind its mapping.
func (w *world) count(_ context.Context, payload []byte) ([]byte, error) {
	return w.Invoke(iam.Streams(w.pipelines[1]), func(ctx context.Context) (any, error) {
		h, err := handler.NewStreams(w.config(1))
		w.Must(err)
		if err := h.Start(ctx); err != nil {
			return nil, err
		}
		return h.Handle(ctx, json.RawMessage(payload))
	})
}

// poll runs the mapping of a stream.
func (w *world) poll(stream *esm.Stream) {
	for {
		w.nap(10)
		w.Poll(stream, 0.15)
	}
}

// nap is the time between two looks of a mapping, in seconds, and more where nothing happens.
func (w *world) nap(most int) {
	wait := time.Duration(1+w.Rng.IntN(most)) * time.Second
	if w.idle {
		wait *= 100
	}
	w.Sleep(wait)
}

// refuses reports whether the target refuses a message of this group now. What it refuses, it
// sometimes refuses for a while.
func (w *world) refuses(id, group string) bool {
	switch {
	case group == w.blocked && w.Now.Before(w.until), w.Now.Before(w.refused[id]):
		return true
	case w.Calm || !w.Chance(0.1):
		return false
	}
	w.refused[id] = w.Now.Add(time.Duration(w.Rng.IntN(20)) * time.Second)
	return true
}

// take puts a message into the queue between them, and looks at what it says.
func (w *world) take(m message) {
	once := [2]string{m.queue, m.id}
	if at, known := w.taken[once]; known && w.Now.Sub(at) < 5*time.Minute {
		return // a FIFO queue takes an id once in five minutes
	}
	w.taken[once] = w.Now
	w.sent++
	var c cloud
	w.Must(json.Unmarshal([]byte(m.body), &c))
	switch id := c.Data.Order; {
	case m.queue == "costs.fifo":
		w.hears(id, &c)
		return
	case c.Change == publish.Removed:
		w.told[c.PK] = true
		return
	case id != "":
		if c.Data.Version > w.newest[id]+1 && len(w.letters) == 0 && c.Change == publish.Changed {
			w.Fail(Unruly, "version %d of order %s is published, and before it only version %d", c.Data.Version, id, w.newest[id])
		}
		w.newest[id] = max(w.newest[id], c.Data.Version)
	}
	w.waiting = append(w.waiting, m)
}

// hears looks at a message to costs.
func (w *world) hears(id string, c *cloud) {
	if w.heard[id] == nil {
		w.heard[id] = map[int]bool{}
	}
	w.heard[id][c.Data.Version] = true
	if c.Change != publish.Changed {
		return // it has no payload before, or it was published again
	}
	before := c.Data
	w.Must(json.Unmarshal([]byte(c.Before), &before))
	late := w.removed["ORDER#"+id] // requests that come after a removal may leave versions out
	if before.Version != c.Data.Version-1 && !late || before.Spent == c.Data.Spent {
		w.Fail(Noise, "version %d of order %s has spent %d, and is published after version %d with %d", c.Data.Version, id, c.Data.Spent,
			before.Version, before.Spent)
	}
}

// deliver invokes the ingest function of the second with what is in the queue. A message that it
// has ingested may come once more.
func (w *world) deliver() {
	for number := 0; ; {
		w.nap(5)
		w.Rng.Shuffle(len(w.waiting), func(i, j int) { w.waiting[i], w.waiting[j] = w.waiting[j], w.waiting[i] })
		batch := slices.Clone(w.waiting[:min(len(w.waiting), 1+w.Rng.IntN(10))])
		if len(batch) == 0 {
			continue
		}
		var in events.SQSEvent
		for range batch {
			number++
			in.Records = append(in.Records, events.SQSMessage{MessageId: fmt.Sprint(number), Body: batch[len(in.Records)].body,
				EventSourceARN: "arn:aws:sqs:eu-west-1:000000000000:second", Attributes: map[string]string{"SentTimestamp": "1"}})
		}
		text, err := w.Invoke(iam.Ingest(w.pipelines[1]), func(ctx context.Context) (any, error) {
			h, err := handler.NewIngest(w.config(1))
			w.Must(err)
			return h.Handle(ctx, in)
		})
		if err != nil || !w.Calm && w.Chance(0.1) {
			continue
		}
		var answer events.SQSEventResponse
		w.Must(json.Unmarshal(text, &answer))
		for i, m := range batch {
			if slices.ContainsFunc(answer.BatchItemFailures, func(f events.SQSBatchItemFailure) bool {
				return f.ItemIdentifier == in.Records[i].MessageId
			}) {
				continue
			}
			at := slices.Index(w.waiting, m)
			w.waiting = slices.Delete(w.waiting, at, at+1)
		}
	}
}

// rest stops the faults and waits until everything is done.
func (w *world) rest() {
	w.Calm = true
	quiet := func() bool { return w.Late == 0 && w.Working == 0 && len(w.waiting) == 0 }
	w.run(quiet)
	rested := w.Now.Add(30 * time.Minute) // pollers have not seen what was written last
	w.run(func() bool {
		return w.Now.After(rested) && quiet() && !slices.ContainsFunc(w.streams, func(s *esm.Stream) bool { return !s.Drained() })
	})
}

// run lets tasks go on until a condition holds.
func (w *world) run(until func() bool) {
	w.Run(until, func() string {
		return fmt.Sprintf("after %s: %d messages wait, at work %d, late %d", w.Now.Sub(stage.Origin), len(w.waiting), w.Working, w.Late)
	})
}
