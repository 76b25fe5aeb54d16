package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/verify"
)

// mapped is both functions behind their event source mappings, in a world full of trouble. Requests
// are lost or late, and answers are lost. Batches come twice, checkpoints are forgotten, and shards
// roll.
type mapped struct {
	*world
	r       *rand.Rand
	trouble bool
	queue   *esm.Queue
	stream  *esm.Stream
	url     string
	late    []func() (any, error) // requests that their sender has given up and that have not arrived yet
	old     []esm.Checkpoint
	sent    map[string][]int // the totals sent for each id
}

func newMapped(t *testing.T, seed uint64, c aggregate.Counting) *mapped {
	m := &mapped{r: rand.New(rand.NewPCG(seed, 7)), sent: map[string][]int{}}
	m.world = newWorld(t, counting(c), func(s *setup) {
		s.env = func(c *testworld.Clock) env.Env {
			e := c.Env(m.r.Float64)
			e.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			return e
		}
	})
	m.started()
	for _, api := range []string{"PutItem", "BatchExecuteStatement", "BatchGetItem", "UpdateItem", "TransactWriteItems", "GetItem",
		"SendMessageBatch", "PutObject"} {
		chance := func(p float64) func(any) bool {
			return func(any) bool { return m.trouble && m.r.Float64() < p }
		}
		m.faults = append(m.faults, fault{API: api, Always: true, Before: errLost, Applies: chance(0.05)},
			fault{API: api, Always: true, After: errLost, Applies: chance(0.1)},
			fault{API: api, Always: true, Before: &types.ProvisionedThroughputExceededException{}, Applies: chance(0.05)},
			fault{API: api, Always: true, Late: &m.late, Before: errLost, Applies: chance(0.05)})
	}
	var err error
	m.url, err = (stack.Queue{Name: "ingest", Visibility: 90 * time.Second}).Create(context.Background(), m.Engine.SQS())
	must.Succeed(t, err)
	chance := func(esm.Invocation) bool { return m.trouble && m.r.Float64() < 0.1 }
	faults := esm.Faults{Duplicate: chance, DropAnswer: chance, Forget: chance}
	m.queue, err = m.MapQueue(context.Background(), esm.QueueConfig{URL: m.url, BatchSize: 10,
		Function: esm.Function{Handler: lambda.NewHandler(m.ingest.Handle).Invoke, Timeout: time.Minute, Faults: faults}})
	must.Succeed(t, err)
	m.stream, err = m.MapStream(esm.StreamConfig{BatchSize: 1 + m.r.IntN(9), Bisect: m.r.IntN(2) == 0, Window: m.Window(),
		Function: esm.Function{Handler: lambda.NewHandler(m.streams.Handle).Invoke, Timeout: time.Minute, Faults: faults}})
	must.Succeed(t, err)
	return m
}

func (m *mapped) step() {
	ctx := context.Background()
	switch n := m.r.IntN(100); {
	case n < 50:
		id := fmt.Sprint(m.r.IntN(60))
		total := m.r.IntN(3)
		if known := m.sent[id]; len(known) > 0 && m.r.Float64() < 0.8 {
			total = known[0]
		}
		m.sent[id] = append(m.sent[id], total)
		body := order(id, total)
		if m.r.IntN(20) == 0 {
			body = "poison"
		}
		_, err := m.Engine.SQS().SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &m.url, MessageBody: &body})
		must.Succeed(m.t, err)
	case n < 70:
		_, err := m.queue.Poll(ctx)
		must.Succeed(m.t, err)
	case n < 90:
		m.old = append(m.old, m.stream.Checkpoint())
		_, err := m.stream.Poll(ctx)
		must.Succeed(m.t, err)
	case n < 92:
		must.Succeed(m.t, m.Engine.RollShards("events"))
	case n < 94 && len(m.old) > 0: // a poller falls back to an older checkpoint
		m.stream.Restore(m.old[m.r.IntN(len(m.old))])
	case n < 96 && len(m.late) > 0: // a request arrives after everybody has given it up
		i := m.r.IntN(len(m.late))
		_, _ = m.late[i]()
		m.late = append(m.late[:i], m.late[i+1:]...)
	case n < 98:
		m.touchByHand()
	default:
		m.Clock.Pass(time.Duration(m.r.IntN(60)) * time.Second)
	}
}

// touchByHand does what people do to tables: it annotates an item, or deletes it.
func (m *mapped) touchByHand() {
	was := m.trouble
	m.trouble = false
	defer func() { m.trouble = was }()
	for key := range m.items() {
		at := testworld.Key(key.PK, key.SK)
		if m.r.IntN(2) == 0 {
			m.Delete(m.t, "events", at)
		} else {
			m.Alter(m.t, "events", at, "SET note = :v", rows.Integer(m.r.Int64N(9)))
		}
		return
	}
}

// drain lets everything arrive and be done.
func (m *mapped) drain() {
	m.trouble = false
	for _, request := range m.late {
		_, _ = request()
	}
	m.late = nil
	for idle := 0; idle < 3; idle++ {
		for {
			q, err := m.queue.Poll(context.Background())
			must.Succeed(m.t, err)
			s, err := m.stream.Poll(context.Background())
			must.Succeed(m.t, err)
			if q.Idle() && s.Idle() {
				break
			}
			idle = 0
		}
		m.Clock.Pass(2 * time.Minute)
	}
}

// check compares the totals with a plain count of the table, and then with verify.
func (m *mapped) check(t *testing.T, kept bool) {
	t.Helper()
	orders, revenue := 0, 0
	for item, err := range m.store.Items(context.Background()) {
		must.Succeed(t, err)
		var payload struct{ Cents int }
		must.Succeed(t, json.Unmarshal([]byte(item.Data), &payload))
		orders, revenue = orders+1, revenue+payload.Cents
	}
	names := []string{"live", "totals"}
	if kept {
		names = names[:1]
	}
	for _, name := range names {
		m.sums(t, name, fmt.Sprint(orders), fmt.Sprint(revenue))
	}
	report, err := verify.Totals(context.Background(), m.plan, m.store, m.Clock.Now())
	must.Succeed(t, err)
	for _, d := range report.Differences {
		t.Error(d)
	}
}

// Nothing is lost and nothing is counted twice, whatever happens on the way, in both ways of
// counting.
func TestThroughMappings(t *testing.T) {
	for _, seed := range replay.Seeds(t, 0, 12) {
		for _, c := range bothWays {
			t.Run(fmt.Sprint(c, " ", seed), func(t *testing.T) {
				t.Cleanup(func() {
					if t.Failed() {
						t.Log("replay with " + replay.Command(t, seed))
					}
				})
				m := newMapped(t, seed, c)
				m.trouble = true
				for range 300 {
					m.step()
				}
				m.drain()
				m.check(t, false)
				m.Clock.Pass(100 * 24 * time.Hour)
				swept := len(m.items())
				m.Engine.SweepExpired()
				m.trouble = true
				for range 50 {
					m.step()
				}
				m.drain()
				m.check(t, true)
				if n := len(m.archived()); n != swept || n == 0 {
					t.Errorf("%d items swept and %d archived", swept, n)
				}
				must.Equal(t, m.total("live").N, 0)
				for _, o := range m.outcomes {
					if o.Verdict == event.Retry && o.Refusal == nil {
						t.Error("Retry without a reason")
					}
				}
			})
		}
	}
}
