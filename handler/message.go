package handler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// open returns the part of a message that the envelope may look at: the body and the textual
// attributes.
func open(m *events.SQSMessage) envelope.Message {
	out := envelope.Message{Body: m.Body}
	for name, a := range m.MessageAttributes {
		if a.StringValue == nil {
			continue
		}
		if out.Attributes == nil {
			out.Attributes = make(map[string]string, len(m.MessageAttributes))
		}
		out.Attributes[name] = *a.StringValue
	}
	return out
}

// letter returns the message unchanged, with one more attribute that says why it is in quarantine.
// It replaces a note from an earlier time in quarantine. It does not replace a producer's own
// attribute of that name. Such a message does not fit (ErrUnfit), and goes to the dead-letter queue
// unchanged.
func letter(o *Outcome) (Letter, error) {
	m := o.Message
	if a, taken := m.MessageAttributes[Attribute]; taken && !isNote(a) {
		return Letter{}, fmt.Errorf("%w: it has a message attribute %s of the producer's own, where the reason would go",
			ErrUnfit, Attribute)
	}
	l := Letter{Body: m.Body, Attributes: make(map[string]types.MessageAttributeValue, len(m.MessageAttributes)+1)}
	for name, a := range m.MessageAttributes {
		if name != Attribute {
			l.Attributes[name] = types.MessageAttributeValue{DataType: aws.String(a.DataType), StringValue: a.StringValue,
				BinaryValue: a.BinaryValue}
		}
	}
	l.Attributes[Attribute] = note(o.Refusal, m.Attributes["MessageGroupId"], o.refused())
	return l, nil
}

// Note is what quarantine adds to a letter, as JSON in the attribute [Attribute].
type Note struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
	// Group is the group id that the message had in its queue. The quarantine queue has no groups,
	// so the note keeps it until the message is sent again.
	Group string `json:"group,omitempty"`
	// Events are the positions of the events that can never be stored, in a message that is an
	// array. They are counted from 0. The rest of the note is about the first of them that is not
	// Rejected, or about the first if all of them are. All other events of the array are stored.
	Events []int `json:"events,omitempty"`
}

// isNote reports whether an attribute is Ingot's. A producer may give its own attribute the same
// name.
func isNote(a events.SQSMessageAttribute) bool {
	if a.DataType != "String" || a.StringValue == nil {
		return false
	}
	_, is := ReadNote(*a.StringValue)
	return is
}

// ReadNote reads the text of an attribute. It returns false if the text is not a note, but
// something that a producer gave the same name.
func ReadNote(text string) (n Note, is bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&n) != nil || d.InputOffset() != int64(len(text)) {
		return Note{}, false
	}
	v, _ := event.ParseVerdict(n.Verdict)
	return n, n.Reason != "" && v.Quarantined()
}

// maxDetail bounds the detail in a note, because the detail may quote the payload.
const maxDetail = 1024

// note returns Ingot's attribute. group is empty if the message had no group id, and positions is
// empty if it is not an array.
func note(r *event.Refusal, group string, positions []int) types.MessageAttributeValue {
	value, _ := json.Marshal(Note{r.Verdict.String(), string(r.Reason), excerpt.Of(r.Detail, maxDetail), r.Key.PK, r.Key.SK, group,
		positions})
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(sendable(value))}
}

// sendable returns JSON text without what JSON allows and SQS refuses. It escapes two characters.
// It replaces bytes that are not UTF-8, which encoding/json lets pass in a record.
func sendable(text []byte) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(strings.ToValidUTF8(string(text), "\ufffd"))
}

// each yields the outcomes that may have an item: those of the events if the message is an array,
// or else its own.
func (o *Outcome) each(yield func(*Outcome) bool) {
	if o.Events == nil {
		yield(o)
		return
	}
	for i := range o.Events {
		if !yield(&o.Events[i]) {
			return
		}
	}
}

// sum computes the verdict of a message that is an array from the verdicts of its events. If one
// event is Retry, so is the message: it is delivered again, and the events that are stored are then
// Duplicates. Otherwise, if some events can never be stored, the message goes to quarantine with
// the verdict of the first of them that is not Rejected, or with Rejected if all of them are.
// Otherwise all events are stored, and the message is done.
func (o *Outcome) sum() {
	if o.Events == nil {
		return
	}
	decides := 0
	for i := range o.Events {
		if o.Events[i].Verdict.Outweighs(o.Events[decides].Verdict) {
			decides = i
		}
	}
	first := &o.Events[decides]
	if o.Verdict = first.Verdict; first.Refusal != nil {
		refusal := *first.Refusal
		refusal.Detail = fmt.Sprintf("event [%d] of the array: %s", decides, refusal.Detail)
		if first.Item != nil {
			refusal.Type = first.Item.Type
		}
		o.Refusal = &refusal
	}
	o.fail(!o.Verdict.Stored())
}

// fail sets whether a message is returned to SQS, with all its events.
func (o *Outcome) fail(failed bool) {
	o.Failed = failed
	for i := range o.Events {
		o.Events[i].Failed = failed
	}
}

// refused returns the positions of the events that can never be stored, counted from 0.
func (o *Outcome) refused() (positions []int) {
	for i := range o.Events {
		if o.Events[i].Verdict.Quarantined() {
			positions = append(positions, i)
		}
	}
	return positions
}
