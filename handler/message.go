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
)

// open gives the envelope what it may look at: the body and the textual attributes.
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

// letter is the message unchanged, with one attribute more that says why it is in quarantine. A note from an
// earlier time in quarantine gives way to it. An attribute of that name which is the producer's own does not:
// such a message does not fit (ErrUnfit), and the dead-letter queue gets it with all that it says.
func letter(m *events.SQSMessage, r *event.Refusal) (Letter, error) {
	if a, taken := m.MessageAttributes[Attribute]; taken && !isNote(a) {
		return Letter{}, fmt.Errorf("%w: it has a message attribute %s of the producer's own, where the reason would go", ErrUnfit, Attribute)
	}
	l := Letter{Body: m.Body, Attributes: make(map[string]types.MessageAttributeValue, len(m.MessageAttributes)+1)}
	for name, a := range m.MessageAttributes {
		if name != Attribute {
			l.Attributes[name] = types.MessageAttributeValue{DataType: aws.String(a.DataType), StringValue: a.StringValue, BinaryValue: a.BinaryValue}
		}
	}
	l.Attributes[Attribute] = note(r)
	return l, nil
}

// Note is what quarantine writes beside a letter, as JSON in the attribute Attribute.
type Note struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
}

// isNote tells Ingot's attribute from one that a producer gave the same name.
func isNote(a events.SQSMessageAttribute) bool {
	if a.DataType != "String" || a.StringValue == nil {
		return false
	}
	_, is := ReadNote(*a.StringValue)
	return is
}

// ReadNote reads an attribute's text; false: it is not a note, but something that a producer gave the same name.
func ReadNote(text string) (n Note, is bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&n) != nil || d.InputOffset() != int64(len(text)) {
		return Note{}, false
	}
	return n, n.Reason != "" && (n.Verdict == event.Conflict.String() || n.Verdict == event.Expired.String() || n.Verdict == event.Poison.String())
}

// maxDetail bounds the detail in a note: it may quote the payload.
const maxDetail = 1024

// note is Ingot's attribute.
func note(r *event.Refusal) types.MessageAttributeValue {
	value, _ := json.Marshal(Note{r.Verdict.String(), string(r.Reason), event.Shorten(r.Detail, maxDetail), r.Key.PK, r.Key.SK})
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(sendable(value))}
}

// sendable is JSON text without what SQS refuses and JSON allows raw: two characters, which are escaped, and bytes
// that are no UTF-8 (encoding/json lets them pass in a record), which are replaced.
func sendable(text []byte) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(strings.ToValidUTF8(string(text), "\ufffd"))
}
