package esm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// queueWorld is a queue of the embedded engine with a DLQ, a mapping over it, and a function that
// sometimes fails and records what it did.
type queueWorld struct {
	t        *testing.T
	r        *rand.Rand
	now      time.Time
	client   *embedded.SQS
	url, dlq string
	fifo     bool
	q        *esm.Queue

	trouble  float64
	sent     int
	groups   map[string]int // messages sent, by group
	done     map[string]int // by body: how often the function reported it as done
	reached  map[string]int // FIFO: the highest number done, by group
	poisoned map[string]bool
}

func newQueueWorld(t *testing.T, seed uint64, fifo bool) *queueWorld {
	t.Helper()
	w := &queueWorld{t: t, r: rand.New(rand.NewPCG(seed, 1)), now: must.Time("2099-01-01T00:00:00Z"), fifo: fifo,
		groups: map[string]int{}, done: map[string]int{}, reached: map[string]int{}, poisoned: map[string]bool{}}
	w.client = embedded.New(embedded.Config{Now: func() time.Time { return w.now }, Seed: seed}).SQS()
	suffix := ""
	if fifo {
		suffix = ".fifo"
	}
	var err error
	w.dlq, err = (stack.Queue{Name: "dlq" + suffix, FIFO: fifo}).Create(context.Background(), w.client)
	must.Succeed(t, err)
	w.url, err = stack.Queue{Name: "q" + suffix, FIFO: fifo, Visibility: time.Minute, DeadLetters: w.dlq,
		MaxReceives: 50}.Create(context.Background(), w.client)
	must.Succeed(t, err)
	chance := func(p float64) func(esm.Invocation) bool {
		return func(esm.Invocation) bool { return w.trouble > 0 && w.r.Float64() < p }
	}
	w.q, err = esm.NewQueue(context.Background(),
		esm.QueueConfig{Client: w.client, URL: w.url, BatchSize: 10, ReportBatchItemFailures: true, Function: esm.Function{
			Handler: w.handle, Now: func() time.Time { return w.now },
			Faults: esm.Faults{Duplicate: chance(0.1), DropAnswer: chance(0.1), Forget: chance(0.1)},
		}})
	must.Succeed(t, err)
	return w
}

func (w *queueWorld) send() {
	group := fmt.Sprintf("g%d", w.r.IntN(4))
	w.groups[group]++
	w.sent++
	body := fmt.Sprintf("%s %d", group, w.groups[group])
	in := &sqs.SendMessageInput{QueueUrl: &w.url, MessageBody: &body, MessageAttributes: map[string]types.MessageAttributeValue{
		"group": {DataType: aws.String("String"), StringValue: &group},
		"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte(body)}}}
	if w.fifo {
		in.MessageGroupId, in.MessageDeduplicationId = &group, aws.String(strconv.Itoa(w.sent))
	}
	_, err := w.client.SendMessage(context.Background(), in)
	must.Succeed(w.t, err)
}

func (w *queueWorld) handle(ctx context.Context, payload []byte) ([]byte, error) {
	if at, ok := ctx.Deadline(); !ok || !at.Equal(w.now.Add(esm.DefaultTimeout)) {
		w.t.Errorf("deadline %v", at)
	}
	var ev events.SQSEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		w.t.Fatalf("payload: %v", err)
	}
	if w.r.Float64() < w.trouble/3 {
		return nil, errors.New("the function failed")
	}
	var answer events.SQSEventResponse
	stopped := map[string]bool{}
	for _, m := range ev.Records {
		group, number := w.read(m)
		fails := w.poisoned[m.Body] || w.r.Float64() < w.trouble || stopped[group]
		if w.fifo && !stopped[group] && number > w.reached[group]+1 {
			w.t.Fatalf("%s came while only %d were done", m.Body, w.reached[group])
		}
		if fails {
			stopped[group] = w.fifo
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			continue
		}
		w.done[m.Body]++
		w.reached[group] = max(w.reached[group], number)
	}
	return json.Marshal(answer)
}

// read checks what every record must have. It returns the group and the number of the record.
func (w *queueWorld) read(m events.SQSMessage) (string, int) {
	group, digits, _ := strings.Cut(m.Body, " ")
	number, err := strconv.Atoi(digits)
	if err != nil || m.MessageAttributes["group"].StringValue == nil || *m.MessageAttributes["group"].StringValue != group ||
		string(m.MessageAttributes["bytes"].BinaryValue) != m.Body {
		w.t.Errorf("record %+v", m)
	}
	if m.EventSource != "aws:sqs" || m.AWSRegion != "us-east-1" || m.EventSourceARN != w.q.ARN() ||
		m.Attributes["ApproximateReceiveCount"] == "" || len(m.Md5OfBody) != 32 ||
		(w.fifo && m.Attributes["MessageGroupId"] != group) {
		w.t.Errorf("record %+v", m)
	}
	return group, number
}

func (w *queueWorld) live(steps int) {
	for range steps {
		switch n := w.r.IntN(10); {
		case n < 5:
			w.send()
		case n < 7:
			w.now = w.now.Add(time.Duration(w.r.IntN(30)) * time.Second)
		default:
			w.poll()
		}
	}
}

func (w *queueWorld) poll() esm.Polled {
	p, err := w.q.Poll(context.Background())
	must.Succeed(w.t, err)
	return p
}

func (w *queueWorld) drain(rounds int) {
	w.trouble = 0
	for range rounds {
		for !w.poll().Idle() {
		}
		w.now = w.now.Add(time.Minute)
	}
}

func (w *queueWorld) depth(url string) int {
	n, err := stack.Depth(context.Background(), w.client, url)
	must.Succeed(w.t, err)
	return n
}

// TestEveryMessageIsDoneInTheEnd shows that every message is done at least once, and that none is
// left, in spite of failures, lost answers and lost deletions. In a FIFO queue, each group is done
// in order.
func TestEveryMessageIsDoneInTheEnd(t *testing.T) {
	for name, fifo := range map[string]bool{"standard": false, "FIFO": true} {
		t.Run(name, func(t *testing.T) {
			seeds(t, 15, func(t *testing.T, seed uint64) {
				w := newQueueWorld(t, seed, fifo)
				w.trouble = 0.3
				w.live(200)
				w.drain(60)
				for group, n := range w.groups {
					for i := range n {
						if body := fmt.Sprintf("%s %d", group, i+1); w.done[body] == 0 {
							t.Errorf("%s was never done", body)
						}
					}
				}
				if n := w.depth(w.url) + w.depth(w.dlq); n != 0 || w.sent < 50 {
					t.Errorf("%d of %d messages are left", n, w.sent)
				}
			})
		})
	}
}

// TestPoisonGoesToTheDLQ shows that the queue moves a message that always fails after
// maxReceiveCount receives, and that it moves nothing else.
func TestPoisonGoesToTheDLQ(t *testing.T) {
	w := newQueueWorld(t, 1, false)
	for range 25 {
		w.send()
	}
	w.poisoned["g0 1"], w.poisoned["g1 1"] = true, true
	w.drain(55)
	if left, dead := w.depth(w.url), w.depth(w.dlq); left != 0 || dead != 2 {
		t.Errorf("%d left and %d in the DLQ, want 0 and 2", left, dead)
	}
	must.Equal(t, len(w.done), 23)
}
