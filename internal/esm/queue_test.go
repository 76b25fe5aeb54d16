package esm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// queueRig is a mapping over a queue with one clock.
type queueRig struct {
	*Queue
	t      *testing.T
	source *source
	now    time.Time

	mu     sync.Mutex
	calls  []string // bodies of each event
	times  string   // how often the last message was received
	answer func(bodies []string) (string, error)
}

func newQueueRig(t *testing.T, fifo bool, change func(*QueueConfig)) *queueRig {
	t.Helper()
	rig := &queueRig{t: t, now: time.Unix(1000, 0)}
	clock := func() time.Time { return rig.now }
	rig.source = newSource(t, clock, fifo)
	cfg := QueueConfig{Client: rig.source, URL: rig.source.url, ReportBatchItemFailures: true,
		Function: Function{Handler: rig.handle, Now: clock}}
	if change != nil {
		change(&cfg)
	}
	q, err := NewQueue(context.Background(), cfg)
	must.Succeed(t, err)
	rig.Queue = q
	return rig
}

func (rig *queueRig) handle(_ context.Context, payload []byte) ([]byte, error) {
	var ev events.SQSEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		rig.t.Errorf("payload: %v", err)
	}
	if len(payload) > maxEvent {
		rig.t.Errorf("an event of %d bytes", len(payload))
	}
	var bodies []string
	for _, m := range ev.Records {
		bodies = append(bodies, m.Body)
	}
	rig.mu.Lock()
	defer rig.mu.Unlock()
	rig.times = ev.Records[len(ev.Records)-1].Attributes["ApproximateReceiveCount"]
	names := make([]string, len(bodies))
	for i, b := range bodies {
		names[i] = short(b)
	}
	rig.calls = append(rig.calls, strings.Join(names, " "))
	if rig.answer == nil {
		return []byte(`{"batchItemFailures":[]}`), nil
	}
	answer, err := rig.answer(bodies)
	return []byte(answer), err
}

func (rig *queueRig) poll() Polled {
	rig.t.Helper()
	p, err := rig.Poll(context.Background())
	must.Succeed(rig.t, err)
	return p
}

// sendBig sends messages of which one event holds five.
func (rig *queueRig) sendBig(n int) {
	for i := range n {
		rig.source.send(fmt.Sprintf("big-%d ", i+1) + strings.Repeat("x", 1<<20-100))
	}
}

func (rig *queueRig) want(calls ...string) {
	rig.t.Helper()
	must.Match(rig.t, rig.calls, calls)
	rig.calls = nil
}

func bodies(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return list
}

// failingOnly returns a script that reports every message with one of these bodies as failed.
func failingOnly(failed ...string) func([]string) (string, error) {
	return func(bodies []string) (string, error) {
		var list []events.SQSBatchItemFailure
		for _, b := range bodies {
			if slices.Contains(failed, b) {
				list = append(list, events.SQSBatchItemFailure{ItemIdentifier: "id-" + short(b)})
			}
		}
		answer, err := json.Marshal(events.SQSEventResponse{BatchItemFailures: list})
		return string(answer), err
	}
}

func TestBatchesAreGatheredAndDeleted(t *testing.T) {
	rig := newQueueRig(t, false, func(c *QueueConfig) { c.BatchSize = 25 })
	rig.source.send(bodies(27)...)
	must.Equal(t, rig.poll(), (Polled{Received: 25, Invocations: 1, Deleted: 25}))
	if asked := rig.source.engine.Usage().Requests; asked["ReceiveMessage"] != 3 || asked["DeleteMessageBatch"] != 3 {
		t.Errorf("%v, want 3 receives and 3 deletes", asked)
	}
	rig.poll()
	rig.want(strings.Join(bodies(25), " "), "26 27")
	must.Equal(t, rig.poll(), Polled{})
}

func TestFailedMessagesComeBackWhenTheyAreVisible(t *testing.T) {
	rig := newQueueRig(t, false, nil)
	rig.source.send(bodies(3)...)
	rig.answer = failingOnly("2")
	must.Equal(t, rig.poll(), (Polled{Received: 3, Invocations: 1, Deleted: 2, Left: 1}))
	rig.now = rig.now.Add(29 * time.Second)
	rig.poll()
	rig.now = rig.now.Add(time.Second)
	rig.answer = nil
	rig.poll()
	rig.want("1 2 3", "2")
	must.Equal(t, rig.source.left(), 0)
}

func TestAnswersThatFailAWholeBatchOfMessages(t *testing.T) {
	for answer, whole := range map[string]bool{
		`{}`: false, `null`: false, `[]`: false, `{"batchItemFailures":null}`: false,
		`{"BatchItemFailures":[{"itemIdentifier":"id-1"}]}`: false,
		``: true, `oops`: true, `{"batchItemFailures":[{"itemIdentifier":""}]}`: true,
		`{"batchItemFailures":[{"itemIdentifier":null}]}`:    true,
		`{"batchItemFailures":[{"itemIdentifier":"other"}]}`: true, `{"batchItemFailures":[{"id":"id-1"}]}`: true, "!": true,
	} {
		var told error
		rig := newQueueRig(t, false, func(c *QueueConfig) { c.OnFailure = func(_ Invocation, err error) { told = err } })
		rig.source.send(bodies(2)...)
		rig.answer = func([]string) (string, error) {
			if answer == "!" {
				return "", errors.New("the function failed")
			}
			return answer, nil
		}
		p := rig.poll()
		if (p.FailedWhole == 1) != whole || (rig.source.left() == 2) != whole || (told != nil) != whole {
			t.Errorf("answer %q: did %+v, %d left, told %v", answer, p, rig.source.left(), told)
		}
	}
}

func TestWithoutReportingFailuresAreDeleted(t *testing.T) {
	rig := newQueueRig(t, false, func(c *QueueConfig) { c.ReportBatchItemFailures = false })
	rig.source.send(bodies(2)...)
	rig.answer = failingOnly("1", "2")
	must.Equal(t, rig.poll().Deleted, 2)
}

func TestSixMegabytes(t *testing.T) {
	rig := newQueueRig(t, false, func(c *QueueConfig) { c.BatchSize = 100 })
	rig.sendBig(8)
	must.Equal(t, rig.poll(), (Polled{Received: 8, Invocations: 1, Held: 3, Deleted: 5}))
	must.Equal(t, rig.poll(), (Polled{Invocations: 1, Deleted: 3}))
	rig.want("big-1  big-2  big-3  big-4  big-5 ", "big-6  big-7  big-8 ")
}

func TestHeldMessagesAreTheQueuesAgainWhenVisible(t *testing.T) {
	rig := newQueueRig(t, false, nil)
	rig.sendBig(6)
	rig.poll()
	rig.now = rig.now.Add(30 * time.Second)
	must.Equal(t, rig.poll().Received, 1)
	rig.want("big-1  big-2  big-3  big-4  big-5 ", "big-6 ")
	must.Equal(t, rig.times, "2")
}

func TestFIFOGroupsStayInOrder(t *testing.T) {
	rig := newQueueRig(t, true, func(c *QueueConfig) { c.Concurrency = 3 })
	big := strings.Repeat("x", 1<<20-100)
	rig.source.send("a:1"+big, "b:1"+big, "b:2"+big, "b:3"+big, "a:2"+big, "a:3"+big, "c:1"+big)
	failB := true
	rig.answer = func(bodies []string) (string, error) {
		if failB {
			return failingOnly(bodies[3], bodies[4])(bodies)
		}
		return `{}`, nil
	}
	// The queue returns group by group, and b:3 and c:1 do not fit. Group b failed, so b:3 must
	// wait for b:1. c:1 may go on.
	must.Equal(t, rig.poll(), (Polled{Received: 7, Invocations: 1, Held: 1, Left: 2, Deleted: 3}))
	failB = false
	rig.poll()
	rig.now = rig.now.Add(30 * time.Second)
	rig.poll()
	rig.want("a:1xxx a:2xxx a:3xxx b:1xxx b:2xxx", "c:1xxx", "b:1xxx b:2xxx b:3xxx")
	must.Equal(t, rig.source.left(), 0)
}

func TestConcurrentBatches(t *testing.T) {
	rig := newQueueRig(t, false, func(c *QueueConfig) { c.Concurrency = 4 })
	rig.source.send(bodies(35)...)
	must.Equal(t, rig.poll(), (Polled{Received: 35, Invocations: 4, Deleted: 35}))
	must.Equal(t, len(rig.calls), 4)
	must.Equal(t, rig.source.left(), 0)
}

func TestFaultsOfAQueue(t *testing.T) {
	first := true
	once := func(inv Invocation) bool {
		was := first
		first = false
		return was && len(inv.IDs) == 2 && inv.Source == "arn:aws:sqs:us-east-1:000000000000:q"
	}
	for name, tt := range map[string]struct {
		faults Faults
		calls  []string
		whole  int
	}{
		"duplicate": {Faults{Duplicate: once}, []string{"1 2", "1 2"}, 0},
		"drop":      {Faults{DropAnswer: once}, []string{"1 2", "1 2"}, 1},
		"forget":    {Faults{Forget: once}, []string{"1 2", "1 2"}, 0},
	} {
		first = true
		rig := newQueueRig(t, false, func(c *QueueConfig) { c.Function.Faults = tt.faults })
		rig.source.send("1", "2")
		p := rig.poll()
		rig.now = rig.now.Add(time.Minute)
		rig.poll()
		must.Equal(t, p.FailedWhole, tt.whole, name)
		must.Match(t, rig.calls, tt.calls, name)
		must.Equal(t, rig.source.left(), 0, name)
	}
}

func TestErrorsOfTheQueueAreReturned(t *testing.T) {
	rig := newQueueRig(t, false, nil)
	rig.source.send("1", "2")
	rig.source.err = errors.New("no network")
	_, err := rig.Poll(context.Background())
	must.Fail(t, err, "no network")
	rig.source.stuck = true
	must.Equal(t, rig.poll(), (Polled{Received: 2, Invocations: 1, Deleted: 1, Left: 1}))
}

func TestQueueConfigIsChecked(t *testing.T) {
	for want, change := range map[string]func(*QueueConfig){
		"BatchSize":          func(c *QueueConfig) { c.BatchSize = 10_001 },
		"Concurrency":        func(c *QueueConfig) { c.Concurrency = 1001 },
		"Handler":            func(c *QueueConfig) { c.Function.Handler = nil },
		"visibility timeout": func(c *QueueConfig) { c.Function.Timeout = 31 * time.Second },
		"1 to 10": func(c *QueueConfig) {
			fifo := newSource(t, time.Now, true)
			c.Client, c.URL, c.BatchSize = fifo, fifo.url, 11
		},
	} {
		q := newSource(t, time.Now, false)
		nothing := func(context.Context, []byte) ([]byte, error) { return nil, nil }
		cfg := QueueConfig{Client: q, URL: q.url, Function: Function{Handler: nothing}}
		change(&cfg)
		_, err := NewQueue(context.Background(), cfg)
		must.Fail(t, err, want)
	}
}
