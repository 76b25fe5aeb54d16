package quarantine

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
)

// Letter is a message on its way to quarantine.
type Letter struct {
	Body       string
	Attributes map[string]types.MessageAttributeValue // including Ingot's own
}

// Attribute is the name of the only message attribute that quarantine adds. It holds the
// verdict, the reason, the detail and the key as JSON, among other things. See [Note].
const Attribute = "ingot"

// OfMessage returns the letter of a message that cannot be stored: the message unchanged, with one
// more attribute that says why. trace is what [TraceOf] returns, and refused and others are the
// places of its events, if it has several.
// The letter has a new note in place of one from an earlier time in quarantine. A producer's
// own attribute of that name stays: such a message does not fit ([ErrUnfit]), and goes to the
// dead-letter queue unchanged.
func OfMessage(m *events.SQSMessage, why *event.Refusal, trace string, refused, others []event.Place) (Letter, error) {
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
	l.Attributes[Attribute] = note(why, m.Attributes["MessageGroupId"], trace, refused, others)
	return l, nil
}

// fit returns the reason why a letter can never be sent, or nil.
func (l *Letter) fit() error {
	if len(l.Attributes) > maxAttributes {
		return fmt.Errorf("%w: %d message attributes, and SQS takes %d", ErrUnfit, len(l.Attributes), maxAttributes)
	}
	if size := l.size(); size > maxMessageBytes {
		return fmt.Errorf("%w: %d bytes with its attributes, and SQS takes %d", ErrUnfit, size, maxMessageBytes)
	}
	return nil
}

// size returns the size that SQS counts for a message: its body, and each attribute's name, type
// and value.
func (l *Letter) size() int {
	n := len(l.Body)
	for name, v := range l.Attributes {
		n += len(name) + len(aws.ToString(v.DataType)) + len(aws.ToString(v.StringValue)) + len(v.BinaryValue)
	}
	return n
}
