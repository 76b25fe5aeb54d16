package drained_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shards = 4

// world is a stack whose stream is polled while a question sleeps.
type world struct {
	*testworld.World
	t       *testing.T
	store   *store.Store
	stream  *esm.Stream
	mapping pause.Mapping
	blind   bool                       // the world counts by receipts
	halted  bool                       // nothing calls the function
	refuses func(event.Change) error   // what the function does with a change
	turn    func()                     // called before each poll
	meddle  func(api, pk string) error // called before each call of DynamoDB
	undone  map[string]bool            // the keys of orders that were stored before a question, and are not done
	start   time.Time
	puts    int // of fences
	notes   int
	told    []string
}

func newWorld(t *testing.T, counting aggregate.Counting) *world {
	w := &world{t: t, undone: map[string]bool{}}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: must.Time("2030-01-02T03:04:05Z"), Counting: counting,
		Engine: embedded.Config{Partitions: shards, RollAfter: -1, Intercept: w.intercept}})
	must.Succeed(t, err)
	st, err := w.Store(written.Pipeline(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "-"}}
`))
	must.Succeed(t, err)
	w.store, w.start = st, w.Clock.Now()
	function := w.Streams(st)
	function.OnChange = func(_ context.Context, c event.Change) error {
		if w.refuses != nil {
			return w.refuses(c)
		}
		delete(w.undone, c.Key.PK)
		return nil
	}
	w.stream, err = w.MapStream(esm.StreamConfig{Window: w.Window(),
		Function: esm.Function{Handler: lambda.NewHandler(function.Handle).Invoke}})
	must.Succeed(t, err)
	w.mapping = pause.Mapping{UUID: "u-1", Function: "shop-streams", Source: w.StreamARN, State: "Enabled", Factor: 1}
	return w
}

func (w *world) intercept(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
	pk := ""
	if in, is := input.(*dynamodb.PutItemInput); is {
		pk = rows.TextOf(in.Item["PK"])
		if strings.HasPrefix(pk, fences.Prefix) && *in.TableName == stack.Events {
			w.puts++
		} else if strings.HasPrefix(pk, fences.Prefix) {
			w.notes++
		}
	}
	if w.meddle != nil {
		if err := w.meddle(api, pk); err != nil {
			return nil, err
		}
	}
	return call()
}

func (w *world) must(err error) {
	w.t.Helper()
	must.Succeed(w.t, err)
}

// order stores an order.
func (w *world) order(id string) {
	w.t.Helper()
	body := fmt.Sprintf(`{"type":"order","id":%q,"at":"2030-01-02T03:00:00Z"}`, id)
	item, err := w.store.Config().Pipeline.Plan(envelope.Message{Body: body})
	must.Succeed(w.t, err)
	if done, _ := w.store.Put(w.t.Context(), []*event.Item{item}); !done[0].Verdict.Stored() {
		w.t.Fatal(done)
	}
	w.undone["ORDER#"+id] = true
}

// question is the question whether the function of the world has done everything.
func (w *world) question() drained.Question {
	e := w.Clock.Env(rand.New(rand.NewPCG(replay.Seed(w.t, 1), 0)).Float64)
	sleep := e.Sleep
	e.Sleep = func(ctx context.Context, d time.Duration) error {
		if err := sleep(ctx, d); err != nil {
			return err
		}
		if w.turn != nil {
			w.turn()
		}
		if !w.halted {
			if _, err := w.stream.Poll(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return drained.Question{Tables: w.Engine.DynamoDB(), Shards: w.Engine.Streams(), Events: stack.Events, Aggregates: stack.Aggregates,
		Function: "shop-streams", Notes: fences.Streams, Patience: drained.Patience, Env: e,
		Mappings: func(context.Context) ([]pause.Mapping, error) { return []pause.Mapping{w.mapping}, nil },
		Tell:     func(format string, args ...any) { w.told = append(w.told, fmt.Sprintf(format, args...)) }}
}

// An idle stack, and one with changes that are not read yet, answer within a minute. What it costs
// is known, and at rest it costs nothing.
func TestAnswer(t *testing.T) {
	for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
		t.Run(counting.String(), func(t *testing.T) {
			w := newWorld(t, counting)
			for round := range 3 {
				began, puts, notes := w.Clock.Now(), w.puts, w.notes
				at, err := w.question().Ask(t.Context())
				took := w.Clock.Now().Sub(began)
				if err != nil || !at.Equal(began) || took > time.Minute {
					t.Fatalf("round %d: %v after %s, for %s", round, err, took, at)
				}
				puts, notes = w.puts-puts, w.notes-notes
				most := 14 + 2*2*shards // S·(ln S + 2), and two more rounds at most with this seed
				if counting == aggregate.Receipts {
					most = 14 + 64*shards
				}
				if puts > most || notes > puts || notes < 1 {
					t.Errorf("round %d: %d fences and %d notes", round, puts, notes)
				}
				if len(w.undone) > 0 {
					t.Errorf("round %d: %v are not done", round, w.undone)
				}
				for i := range 40 {
					w.order(fmt.Sprint(round, "-", i))
				}
			}
			puts, notes := w.puts, w.notes
			for range 48 {
				w.Clock.Pass(time.Hour)
				_, err := w.stream.Poll(t.Context())
				must.Succeed(t, err)
				w.Engine.Sweep(1000) // removes the fences and the notes
			}
			if w.puts != puts || w.notes != notes {
				t.Errorf("%d fences and %d notes at rest", w.puts-puts, w.notes-notes)
			}
		})
	}
}

// Without patience, the fences are put once and the notes read once.
func TestAskedOnce(t *testing.T) {
	for _, halted := range []bool{false, true} {
		w := newWorld(t, aggregate.Marks)
		w.halted = halted
		q, began := w.question(), w.Clock.Now()
		q.Patience = 0
		_, err := q.Ask(t.Context())
		var unknown *drained.Unknown
		if took := w.Clock.Now().Sub(began); took > time.Second || w.puts > 14 ||
			halted != errors.As(err, &unknown) || !halted && err != nil {
			t.Errorf("halted %t: %v after %s and %d fences", halted, err, took, w.puts)
		}
	}
}

// Whatever happens on the way, an answer means that all is done, and it comes once all can be done.
func TestDetours(t *testing.T) {
	after := func(w *world, d time.Duration, do func()) func() {
		return func() {
			if w.Clock.Now().Sub(w.start) > d {
				w.turn = nil
				do()
			}
		}
	}
	for name, set := range map[string]func(w *world){
		"shards close while it lags": func(w *world) {
			w.halted = true
			w.turn = after(w, 20*time.Second, func() {
				w.must(w.Engine.RollShards(stack.Events))
				w.turn = after(w, 3*time.Minute, func() { w.halted = false })
			})
		},
		"shards split again and again while it lags": func(w *world) {
			w.halted = true
			n := 0
			var split func()
			split = func() {
				out, err := w.Engine.Streams().DescribeStream(w.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.StreamARN})
				w.must(err)
				for _, s := range out.StreamDescription.Shards {
					if s.SequenceNumberRange.EndingSequenceNumber == nil {
						w.must(w.Engine.SplitShard(stack.Events, *s.ShardId))
						break
					}
				}
				w.order(fmt.Sprint("split-", n))
				delete(w.undone, fmt.Sprint("ORDER#split-", n)) // it is stored after the question
				if n++; n < 6 {
					w.turn = after(w, time.Duration(n)*20*time.Second, split)
				} else {
					w.halted = false
				}
			}
			w.turn = after(w, 10*time.Second, split)
		},
		"half of the notes are lost": func(w *world) {
			r := rand.New(rand.NewPCG(replay.Seed(w.t, 2), 0))
			w.meddle = func(api, pk string) error {
				run, note := strings.CutPrefix(pk, fences.Prefix)
				if api == "PutItem" && note && !strings.Contains(run, "#") && r.IntN(2) == 0 {
					return errors.New("lost")
				}
				return nil
			}
		},
		"a batch fails for a while": func(w *world) {
			w.refuses = func(c event.Change) error {
				if w.Clock.Now().Sub(w.start) < 2*time.Minute && c.Key.PK == "ORDER#1" {
					return errors.New("not now")
				}
				delete(w.undone, c.Key.PK)
				return nil
			}
		},
	} {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			t.Run(name+" by "+counting.String(), func(t *testing.T) {
				w := newWorld(t, counting)
				for i := range 40 {
					w.order(fmt.Sprint(i))
				}
				set(w)
				if at, err := w.question().Ask(t.Context()); err != nil || !at.Equal(w.start) {
					t.Fatal(at, err)
				}
				if len(w.undone) > 0 {
					t.Errorf("%v are not done", w.undone)
				}
			})
		}
	}
	w := newWorld(t, aggregate.Marks)
	w.meddle = func(api, pk string) error {
		if api == "PutItem" {
			return errors.New("denied")
		}
		return nil
	}
	_, err := w.question().Ask(t.Context())
	must.Fail(t, err, "putting a fence into the table "+stack.Events)
}

// Where nothing, or not everything, is called, the answer is not known, and says where, since when
// and what Lambda says.
func TestUnknown(t *testing.T) {
	stuck := func(w *world) {
		w.order("stuck")
		w.refuses = func(c event.Change) error {
			if c.Key.PK == "ORDER#stuck" {
				return errors.New("no")
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		set  func(w *world)
		want []string
		soon bool // it is known at once
	}{
		"throttled, or concurrency 0": {func(w *world) { w.halted, w.mapping.Last = true, "PROBLEM: Function call throttled" },
			[]string{"in 4 of 4 shards (shardId-", "and others", "before 03:04:05", "mapping is Enabled",
				"PROBLEM: Function call throttled", "older than this tool"}, false},
		"off": {func(w *world) { w.halted, w.mapping.State = true, "Disabled" }, []string{"nothing calls it", "is Disabled"}, true},
		"switched off in the middle": {func(w *world) {
			w.halted = true
			w.turn = func() {
				if w.Clock.Now().Sub(w.start) > 20*time.Second {
					w.mapping.State = "Disabling"
				}
			}
		}, []string{"nothing calls it", "is Disabling"}, false},
		"one shard is stuck": {stuck, []string{"in 1 of 4 shards (shardId-"}, false},
		"being changed":      {func(w *world) { w.mapping.State = "Updating" }, []string{"is being changed"}, true},
		"ten batches of a shard at a time": {func(w *world) { w.mapping.Factor = 10 },
			[]string{"ParallelizationFactor 10", "set it to 1"}, true},
		"one shard is stuck, and no batch names its shard": {func(w *world) {
			stuck(w)
			w.blind = true
		}, []string{"03:04:05; its event source mapping is Enabled"}, false},
		"it reads an earlier stream": {func(w *world) { w.mapping.Source += "0" }, []string{"also reads "}, true},
		"it reads another table":     {func(w *world) { w.mapping.Source = "arn:queue" }, []string{"does not read "}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, aggregate.Marks)
			if c.set(w); w.blind {
				w = newWorld(t, aggregate.Receipts)
				c.set(w)
			}
			_, err := w.question().Ask(t.Context())
			var unknown *drained.Unknown
			if !errors.As(err, &unknown) {
				t.Fatal(err)
			}
			must.Fail(t, err, c.want...)
			if !c.soon && (len(w.told) == 0 || !strings.HasPrefix(w.told[0], "waiting for the proof that ")) {
				t.Errorf("while it waited, it said %q", w.told)
			}
			if took := w.Clock.Now().Sub(w.start); (took == 0) != c.soon || took > 16*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}
