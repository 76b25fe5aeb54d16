package sqs

import (
	"container/heap"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Queues is the SQS part of the engine. One lock guards all queues, because redrive moves messages
// from queue to queue.
type Queues struct {
	mu     sync.Mutex
	core   *api.Core
	rnd    *rand.Rand
	byPath map[string]*queue
	byARN  map[string]*queue
	log    *api.Log // nil: nothing outlives this process
}

// New returns [Queues] without any queue.
func New(c *api.Core) *Queues {
	return &Queues{core: c, rnd: c.Source("queues"), byPath: map[string]*queue{}, byARN: map[string]*queue{}, log: c.NewLog()}
}

// unlock ends a call that may have changed something.
func (qs *Queues) unlock() {
	qs.log.Flush()
	qs.mu.Unlock()
}

type queue struct {
	name, url, arn string
	fifo           bool
	contentDedup   bool
	visibility     time.Duration
	retention      time.Duration
	redrive        redrive
	attributes     map[string]string // as set by CreateQueue

	messages map[string]*message // by id: everything that is in the queue
	ready    backlog             // standard queues: the visible messages, in the order in which they became visible
	inflight flights
	groups   map[string]*group // FIFO queues
	dedup    dedup             // FIFO queues
	sequence uint64
	arrived  chan struct{} // closed when a message may be received; nil: nobody waits
	log      *api.Log
}

type redrive struct {
	target   string // the ARN; empty if there is none
	maximum  int    // a message that was received this often goes to target instead of being received again
	describe string
}

type message struct {
	id, body      string
	bodyMD5       string
	attributes    map[string]types.MessageAttributeValue
	attributesMD5 string
	size          int

	sent, firstReceived time.Time
	received            time.Time // the latest time
	receives            int
	handle              string // of the latest receive
	group, dedupID      string
	sequence            uint64
	source              string // the ARN of the queue from which it was moved to a dead-letter queue

	visibleAt time.Time
	flight    int // index in inflight; -1: not in flight
}

func (m *message) inFlight() bool { return m.flight >= 0 }

// add puts a message, new or moved, into the queue.
func (q *queue) add(m *message) {
	m.flight = -1
	q.sequence++
	m.sequence = q.sequence
	q.messages[m.id] = m
	q.keep(m)
	q.wake()
	if q.fifo {
		q.group(m.group).add(m)
		return
	}
	q.ready.push(m)
}

// wake ends the waiting of all receives. They look again when the caller has released the lock.
func (q *queue) wake() {
	if q.arrived != nil {
		close(q.arrived)
		q.arrived = nil
	}
}

// more says when a receive may find more.
func (q *queue) more(now time.Time) more {
	if q.arrived == nil {
		q.arrived = make(chan struct{})
	}
	after := maxHidden
	if len(q.inflight) > 0 {
		after = q.inflight[0].visibleAt.Sub(now)
	}
	return more{q.arrived, after}
}

// drop removes a message that is not in the backlog: it is in flight, or was just taken from the
// backlog.
func (q *queue) drop(m *message) {
	delete(q.messages, m.id)
	q.unkeep(m)
	if m.inFlight() {
		heap.Remove(&q.inflight, m.flight)
		q.landed(m)
	}
	if q.fifo {
		q.leave(m)
	}
}

// fly hides a message until at.
func (q *queue) fly(m *message, at time.Time) {
	m.visibleAt = at
	if m.inFlight() {
		heap.Fix(&q.inflight, m.flight)
		return
	}
	heap.Push(&q.inflight, m)
	if q.fifo {
		q.group(m.group).inflight++
	}
}

func (q *queue) landed(m *message) {
	m.flight = -1
	q.wake()
	if q.fifo {
		q.group(m.group).inflight--
	}
}

// release makes each message visible again whose visibility timeout is over.
func (q *queue) release(now time.Time) {
	for len(q.inflight) > 0 && !q.inflight[0].visibleAt.After(now) {
		m := heap.Pop(&q.inflight).(*message)
		q.landed(m)
		if !q.fifo {
			q.ready.push(m)
		}
	}
}

func (q *queue) expired(m *message, now time.Time) bool { return now.Sub(m.sent) >= q.retention }

// backlog is a first-in first-out list.
type backlog struct {
	messages []*message
	head     int
}

func (b *backlog) push(m *message) { b.messages = append(b.messages, m) }

func (b *backlog) pop() *message {
	if b.head == len(b.messages) {
		return nil
	}
	m := b.messages[b.head]
	b.messages[b.head] = nil
	b.head++
	if b.head > 1024 && b.head > len(b.messages)/2 {
		b.messages = append([]*message(nil), b.messages[b.head:]...)
		b.head = 0
	}
	return m
}

// flights orders the messages in flight by the time they become visible, then by sequence.
type flights []*message

func (f flights) Len() int { return len(f) }

func (f flights) Less(i, j int) bool {
	if !f[i].visibleAt.Equal(f[j].visibleAt) {
		return f[i].visibleAt.Before(f[j].visibleAt)
	}
	return f[i].sequence < f[j].sequence
}

func (f flights) Swap(i, j int) {
	f[i], f[j] = f[j], f[i]
	f[i].flight, f[j].flight = i, j
}

// Push implements heap.Interface.
func (f *flights) Push(x any) {
	m := x.(*message)
	m.flight = len(*f)
	*f = append(*f, m)
}

// Pop implements heap.Interface.
func (f *flights) Pop() any {
	old := *f
	m := old[len(old)-1]
	old[len(old)-1] = nil
	m.flight = -1
	*f = old[:len(old)-1]
	return m
}

// nameCharacters are the characters of the names of queues, and of the ids of a batch's entries.
const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// newQueue returns a queue with the attributes of CreateQueue. It refuses attributes that it does
// not know.
func newQueue(name string, attributes map[string]string) (*queue, error) {
	q := &queue{
		name: name, visibility: 30 * time.Second, retention: 4 * 24 * time.Hour, attributes: map[string]string{},
		messages: map[string]*message{}, groups: map[string]*group{}, dedup: newDedup(),
	}
	for key, value := range attributes {
		if err := q.set(types.QueueAttributeName(key), value); err != nil {
			return nil, err
		}
		q.attributes[key] = value
	}
	plain := strings.TrimSuffix(name, ".fifo")
	if plain == "" || len(name) > 80 || strings.Trim(plain, nameCharacters) != "" || (plain != name) != q.fifo {
		return nil, api.Error("InvalidParameterValue", "The name of a queue can only include alphanumeric characters, hyphens, or "+
			"underscores, 1 to 80 in length; the name of a FIFO queue ends with .fifo and only that of a FIFO queue does")
	}
	if q.contentDedup && !q.fifo {
		return nil, &types.InvalidAttributeName{Message: aws.String("Unknown Attribute ContentBasedDeduplication.")}
	}
	return q, nil
}

func (q *queue) set(name types.QueueAttributeName, value string) (err error) {
	switch name {
	case types.QueueAttributeNameVisibilityTimeout:
		q.visibility, err = seconds(name, value, 0, 43_200)
	case types.QueueAttributeNameMessageRetentionPeriod:
		q.retention, err = seconds(name, value, 60, 1_209_600)
	case types.QueueAttributeNameFifoQueue:
		if q.fifo, err = boolean(name, value); err == nil && !q.fifo { // a standard queue has no such attribute
			err = &types.InvalidAttributeName{Message: aws.String("Unknown Attribute FifoQueue.")}
		}
	case types.QueueAttributeNameContentBasedDeduplication:
		q.contentDedup, err = boolean(name, value)
	case types.QueueAttributeNameRedrivePolicy:
		q.redrive, err = parseRedrive(value)
	default:
		return api.Unsupported("CreateQueue", "attribute "+string(name))
	}
	return err
}

func badAttribute(name types.QueueAttributeName) error {
	return &types.InvalidAttributeValue{Message: aws.String("Invalid value for the parameter " + string(name) + ".")}
}

func seconds(name types.QueueAttributeName, value string, low, high int) (time.Duration, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return 0, badAttribute(name)
	}
	return time.Duration(n) * time.Second, nil
}

func boolean(name types.QueueAttributeName, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, badAttribute(name)
	}
	return value == "true", nil
}

func parseRedrive(value string) (redrive, error) {
	var policy struct {
		Target  string          `json:"deadLetterTargetArn"`
		Maximum json.RawMessage `json:"maxReceiveCount"` // a number, or a number in quotes
	}
	if err := json.Unmarshal([]byte(value), &policy); err != nil {
		return redrive{}, badAttribute(types.QueueAttributeNameRedrivePolicy)
	}
	n, err := strconv.Atoi(strings.Trim(string(policy.Maximum), `"`))
	if err != nil || n < 1 || n > 1000 || policy.Target == "" {
		return redrive{}, badAttribute(types.QueueAttributeNameRedrivePolicy)
	}
	return redrive{target: policy.Target, maximum: n, describe: value}, nil
}
