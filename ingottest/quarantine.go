package ingottest

import (
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// Letter is a message in quarantine as it was sent, and why it is there. For a change that could
// not be understood, it holds what is known of it.
type Letter struct {
	Message
	Verdict string // Conflict, Rejected, Expired or Poison
	Reason  event.Reason
	Detail  string    // for people
	Key     event.Key // if it is known
}

// Quarantined returns everything that ever came to the quarantine queue, in order. A message that
// was judged twice may be there twice.
func (w *World) Quarantined() []Letter {
	w.t.Helper()
	w.collect()
	return slices.Clone(w.letters)
}

// DeadLetters returns the messages that SQS itself gave up, because the function failed on them ten
// times.
func (w *World) DeadLetters() []Message {
	w.t.Helper()
	w.collect()
	return slices.Clone(w.dead)
}

// collect takes everything out of the two queues. Reading a message hides it from the next reader.
func (w *World) collect() {
	w.t.Helper()
	for _, m := range w.empty(w.world.Quarantine) {
		var note struct {
			Verdict string       `json:"verdict"`
			Reason  event.Reason `json:"reason"`
			Detail  string       `json:"detail"`
			PK      string       `json:"pk"`
			SK      string       `json:"sk"`
		}
		text := m.Attributes[quarantine.Attribute]
		delete(m.Attributes, quarantine.Attribute)
		if err := json.Unmarshal([]byte(text), &note); err != nil {
			w.t.Fatalf("ingottest: a message in quarantine has the note %q: %v", text, err)
		}
		w.letters = append(w.letters, Letter{m, note.Verdict, note.Reason, note.Detail, event.Key{PK: note.PK, SK: note.SK}})
	}
	w.dead = append(w.dead, w.empty(w.world.DeadLetters)...)
}

func (w *World) empty(url string) (messages []Message) {
	w.t.Helper()
	for {
		out, err := w.world.Engine.SQS().ReceiveMessage(w.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10,
			MessageAttributeNames:       []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameMessageGroupId}})
		w.must(err)
		if len(out.Messages) == 0 {
			return messages
		}
		for _, m := range out.Messages {
			messages = append(messages, received(m))
			_, err := w.world.Engine.SQS().DeleteMessage(w.ctx,
				&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
			w.must(err)
		}
	}
}

func received(m types.Message) Message {
	out := Message{Body: aws.ToString(m.Body), Group: m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]}
	for name, a := range m.MessageAttributes {
		if out.Attributes == nil {
			out.Attributes = map[string]string{}
		}
		out.Attributes[name] = aws.ToString(a.StringValue)
	}
	return out
}
