package handler_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
)

// FuzzIngest gives the ingest function any event that Lambda's own decoder reads. Whatever is in
// it, the answer names only messages of the batch, each once. A message that it does not name is in
// the table or in quarantine. The same event again changes nothing.
func FuzzIngest(f *testing.F) {
	corpus.Add(f)
	for _, name := range []string{"ingest-one.json", "ingest-fifo.json", "ingest-cloudevent-binary.json", "ingest-ten-attributes.json"} {
		sample := must.Read(f, "../events/"+name)
		f.Add(sample)
	}
	for _, e := range []events.SQSEvent{messages(), messages(order("1", 1), order("1", 1), order("1", 2), `{`, parcel("p", 2),
		parcel("p", 1), parcel("p", 1)),
		messages(array(order("1", 1), order("1", 2), "7", order("2", 1)), "[]", array(order("2", 1), array(order("3", 1))))} {
		f.Add(marshal(f, e))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var e events.SQSEvent
		if json.Unmarshal(payload, &e) != nil {
			t.Skip("Lambda sends no such event")
		}
		check := func(w *world) {
			answer, err := lambda.NewHandler(w.ingest.Handle).Invoke(iam.As(deadline(t), w.IngestRole), payload)
			if err != nil {
				w.nothingHappened(e, err)
				return
			}
			w.nothingLost(e, failed(t, e, answer))
			before := w.items()
			must.Equal(t, w.receive(e), strings.TrimSpace(string(answer)), answer)
			if after := w.items(); !reflect.DeepEqual(before, after) {
				t.Errorf("items %v, and %v after the same event again", before, after)
			}
		}
		check(newWorld(t))
		check(newWorld(t, arrays))
	})
}

// nothingHappened checks an event that is refused as a whole because it is not from a queue.
func (w *world) nothingHappened(e events.SQSEvent, err error) {
	w.t.Helper()
	nameless := e.Records == nil
	for _, m := range e.Records {
		nameless = nameless || m.MessageId == ""
	}
	if !nameless || len(w.items()) > 0 || len(w.quarantined()) > 0 || len(w.outcomes) > 0 {
		w.t.Errorf("refused (%v), though it has records, and each has an id, or something was done", err)
	}
}

// failed returns the ids that the answer names.
func failed(t *testing.T, e events.SQSEvent, answer []byte) map[string]bool {
	t.Helper()
	var response struct {
		BatchItemFailures []struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &response); err != nil || response.BatchItemFailures == nil {
		t.Fatalf("answer %s: %v", answer, err)
	}
	sent, named := map[string]bool{}, map[string]bool{}
	for _, m := range e.Records {
		sent[m.MessageId] = true
	}
	for _, failure := range response.BatchItemFailures {
		if id := failure.ItemIdentifier; !sent[id] || named[id] {
			t.Errorf("answer %s: %q is not in the batch, or named twice", answer, id)
		}
		named[failure.ItemIdentifier] = true
	}
	return named
}

// nothingLost looks for every message that was acknowledged, and for items that no message made.
func (w *world) nothingLost(e events.SQSEvent, failed map[string]bool) {
	w.t.Helper()
	letters := map[string]int{}
	for _, m := range w.quarantined() {
		if _, noted := m.MessageAttributes[quarantine.Attribute]; !noted {
			w.t.Errorf("a letter without its reason: %q", *m.Body)
		}
		letters[*m.Body]++
	}
	stored, planned := w.items(), 0
	for i := range e.Records {
		m := &e.Records[i]
		if failed[m.MessageId] && !w.failedForGood(m.MessageId) {
			w.t.Errorf("message %s is to come again, and nothing had gone wrong", m.MessageId)
		}
		if w.allStored(m, stored, &planned) {
			if w.outcomes[i].Verdict.Quarantined() && !failed[m.MessageId] {
				letters[m.Body]--
			}
			continue
		}
		if !failed[m.MessageId] {
			letters[m.Body]--
		}
	}
	for body, left := range letters {
		if left < 0 {
			w.t.Errorf("%d messages were acknowledged and are neither in the table nor in quarantine: %q", -left, body)
		}
	}
	if planned < len(stored) {
		w.t.Errorf("%d items of %d messages", len(stored), planned)
	}
}

// allStored reports whether there is an item of the message, and of each of its events if it is an
// array. It counts the events that have one.
func (w *world) allStored(m *events.SQSMessage, stored map[event.Key]int, planned *int) bool {
	item, list, err := w.plan.PlanMessage(envelopeOf(m))
	if list == nil {
		list = []event.Planned{{Item: item}}
	}
	all := err == nil
	for _, p := range list {
		is := p.Item != nil && stored[p.Item.Key] > 0
		if all = all && is; is {
			*planned++
		}
	}
	return all
}

// failedForGood reports whether even quarantine did not take a message of this id, or whether it
// stands behind such a message in its group. In this world the table refuses nothing temporarily.
func (w *world) failedForGood(id string) bool {
	stopped := map[string]bool{}
	for _, o := range w.outcomes {
		group := o.Message.Attributes["MessageGroupId"]
		stopped[group] = stopped[group] || o.Failed && o.Verdict.Quarantined()
		behind := o.Failed && o.Verdict == event.Retry && o.Refusal.Reason == event.Unattempted
		if o.Message.MessageId == id && stopped[group] && (behind || o.Failed && o.Verdict.Quarantined()) {
			return true
		}
	}
	return false
}

func envelopeOf(m *events.SQSMessage) envelope.Message {
	out := envelope.Message{Body: m.Body, Attributes: map[string]string{}}
	for name, a := range m.MessageAttributes {
		if a.StringValue != nil {
			out.Attributes[name] = *a.StringValue
		}
	}
	return out
}
