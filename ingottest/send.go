package ingottest

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/esm"
)

// Message is a message of the events queue.
type Message struct {
	Body string
	// Attributes are message attributes of type String, such as those of a CloudEvent in binary
	// mode. There can be at most 10.
	Attributes map[string]string
	// Group is the message group on a FIFO queue. If it is empty, it is "group". Each message that
	// is sent is new: the queue's deduplication never takes it for an earlier one.
	Group string
}

// Send puts a message into the queue for each body. Nothing is delivered until Drain.
func (w *World) Send(bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		w.SendMessage(Message{Body: body})
	}
}

// SendMessage puts a message into the queue. Nothing is delivered until Drain.
func (w *World) SendMessage(m Message) {
	w.t.Helper()
	m.Attributes = maps.Clone(m.Attributes)
	w.sent = append(w.sent, m)
	w.waiting = append(w.waiting, m)
	item, list, err := w.plan.PlanMessage(w.read(envelope.Message{Body: m.Body, Attributes: m.Attributes}))
	for _, one := range list {
		if item == nil {
			item = one.Item // the first event of an array that can be planned
		}
	}
	if err == nil && item != nil && !w.dated {
		w.date(item.At)
	}
	if w.dated {
		w.post()
	}
}

// date sets a clock that is not set yet. Messages that were sent before have waited for this.
// Letters are taken out of quarantine first, because the clock jumps further than a queue keeps
// messages.
func (w *World) date(at time.Time) {
	w.t.Helper()
	w.collect()
	w.dated = true
	if at.After(latest) {
		at = latest
	}
	w.world.Clock.Reach(at)
}

// post puts the waiting messages into the queue.
func (w *World) post() {
	w.t.Helper()
	for _, m := range w.waiting {
		w.send(m)
	}
	w.waiting = nil
}

// Redeliver makes everything come again. Every message that was ever sent comes as a new one, as
// after a redrive, or from a producer that sends twice. The stream mapping goes back to the oldest
// change that is left, as when it falls back to a stale checkpoint. Nothing is delivered until
// Drain.
//
// If the event of a message has expired by now, the message is judged Expired and quarantined.
func (w *World) Redeliver() {
	w.t.Helper()
	w.post()
	for _, m := range w.sent {
		w.send(m)
	}
	w.stream.Restore(esm.Checkpoint{})
}

func (w *World) send(m Message) {
	w.t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &w.world.Queue, MessageBody: &m.Body}
	for name, text := range m.Attributes {
		if in.MessageAttributes == nil {
			in.MessageAttributes = map[string]types.MessageAttributeValue{}
		}
		in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(text)}
	}
	if w.config.FIFO {
		if m.Group == "" {
			m.Group = "group"
		}
		w.posted++
		in.MessageGroupId, in.MessageDeduplicationId = &m.Group, aws.String(strconv.Itoa(w.posted))
	}
	if _, err := w.world.Engine.SQS().SendMessage(w.ctx, in); err != nil {
		w.t.Fatalf("ingottest: message %.100q: %v", m.Body, err)
	}
	w.accepted++
}
