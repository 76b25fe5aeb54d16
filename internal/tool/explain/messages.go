package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
)

// Message is one message to explain.
type Message struct {
	ID string // the queue's message id; empty for a bare body
	envelope.Message
	header string // AWSTraceHeader
	bare   bool   // the body is the whole file, or a whole line of it
	line   int    // the line in a file of lines, from 1; otherwise 0
}

// ErrStream is returned for a batch of a table's stream, as Lambda sends it.
var ErrStream = errors.New("this is a batch of a table's stream; give the event as its producer sends it, or what Lambda sends for a queue")

// These errors are for files that are nearly what [Messages] reads. To explain such a file as a
// payload would help nobody.
var (
	errUTF16 = errors.New("this is UTF-16, and messages are UTF-8; save it as UTF-8")
	errUTF8  = errors.New("this is not UTF-8, and messages are; save it as UTF-8")
	errMark  = errors.New(
		"this begins with a byte order mark, as some editors write; save it without one, since a message with one is Poison")
	errRecords = errors.New(
		`its Records look like a queue's, but not each has eventSource "aws:sqs" and a text body; give what Lambda sends, or the body alone`)
	errMessages = errors.New("its Messages look like a queue's, but not each has a text Body and a ReceiptHandle; give what aws sqs " +
		"receive-message prints, or the body alone")
)

// Messages reads the messages of a file. It accepts what Lambda sends for a queue ({"Records":
// […]}, each with its eventSource aws:sqs), what `aws sqs receive-message` prints ({"Messages":
// […]}, each with its ReceiptHandle), and events one to a line, each of them an object. Everything
// else is one message, whose body is the whole text except for a line end after it.
//
// batch is true for the first two, whose messages have attributes of their own. An empty text is a
// batch without messages: receive-message prints this for an empty queue, and no queue accepts an
// empty body.
func Messages(text string) (list []Message, batch bool, err error) {
	switch {
	case strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff"):
		return nil, false, errUTF16
	case strings.HasPrefix(text, "\ufeff"):
		return nil, false, errMark
	case !utf8.ValidString(text):
		return nil, false, errUTF8
	}
	if doc, err := event.ParseDocument(text); err == nil {
		root := doc.Root()
		switch records := root.Member("Records"); {
		case isStreamBatch(records) || isStreamBatch(root): // from Lambda, or from EventBridge Pipes
			return nil, false, ErrStream
		case isQueueBatch(records):
			return decode(records, "Lambda sends for a queue")
		case isReceived(root):
			return decode(root.Member("Messages"), "SQS returns")
		case root.Len() == 1 && anyOf(records, func(r event.Node) bool {
			return r.Member("eventSource").Text() == "aws:sqs" || r.Member("body").Exists()
		}):
			return nil, false, errRecords
		case root.Len() == 1 && anyOf(root.Member("Messages"), func(m event.Node) bool {
			return m.Member("ReceiptHandle").Exists() || m.Member("Body").Exists()
		}):
			return nil, false, errMessages
		}
	}
	if list := eachLine(text); list != nil {
		return list, false, nil
	}
	body := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if body == "" {
		return nil, true, nil
	}
	return []Message{{Message: envelope.Message{Body: body}, bare: true}}, false, nil
}

// OfLine returns the messages of one line of a file of events. The line is a message, which gets
// the attributes. Or it is a batch in a form that [Messages] takes, whose messages have attributes
// of their own.
func OfLine(line string, attributes map[string]string) ([]envelope.Message, error) {
	whole := []envelope.Message{{Body: line, Attributes: attributes}}
	if !strings.Contains(line, `"Records"`) && !strings.Contains(line, `"Messages"`) {
		return whole, nil
	}
	list, batch, err := Messages(line)
	switch {
	case err != nil || !batch:
		return whole, err
	case len(attributes) > 0:
		return nil, errors.New("it is a batch, whose messages have attributes of their own; leave out --attribute")
	}
	messages := make([]envelope.Message, len(list))
	for i, m := range list {
		messages[i] = m.Message
	}
	return messages, nil
}

// eachLine returns a message for each line, if there are several lines and the first one is an
// object or an array by itself. If a later line is not JSON, that is a mistake of this line.
func eachLine(text string) []Message {
	var list []Message
	for line, err := range ndjson.Lines(strings.NewReader(text)) {
		if err != nil {
			return nil
		}
		if doc, err := event.ParseDocument(line.Text); len(list) == 0 &&
			(err != nil || doc.Root().Kind() != event.Object && doc.Root().Kind() != event.Array) {
			return nil
		}
		list = append(list, Message{Message: envelope.Message{Body: line.Text}, bare: true, line: line.Number})
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

func isStreamBatch(records event.Node) bool {
	return records.Kind() == event.Array && records.Index(0).Member("eventSource").Text() == "aws:dynamodb"
}

func anyOf(list event.Node, holds func(event.Node) bool) bool {
	if list.Kind() != event.Array {
		return false
	}
	for element := range list.Elements() {
		if holds(element) {
			return true
		}
	}
	return false
}

// isQueueBatch reports whether records are a queue's batch. It also returns true for a batch
// without messages.
func isQueueBatch(records event.Node) bool {
	if records.Kind() != event.Array {
		return false
	}
	for record := range records.Elements() {
		if record.Member("eventSource").Text() != "aws:sqs" || record.Member("body").Kind() != event.String {
			return false
		}
	}
	return true
}

// isReceived reports whether root is what receive-message prints. It accepts an empty list only if
// root has no other member, because an event may also have such a member.
func isReceived(root event.Node) bool {
	messages := root.Member("Messages")
	if messages.Kind() != event.Array || messages.Len() == 0 && root.Len() > 1 {
		return false
	}
	for message := range messages.Elements() {
		if message.Member("Body").Kind() != event.String || message.Member("ReceiptHandle").Kind() != event.String {
			return false
		}
	}
	return true
}

// attribute is a message attribute in either spelling. Names of members are matched without regard
// to case.
type attribute struct {
	StringValue *string `json:"stringValue"`
}

func texts(attributes map[string]attribute) map[string]string {
	out := map[string]string{}
	for name, a := range attributes {
		if a.StringValue != nil {
			out[name] = *a.StringValue
		}
	}
	return out
}

// record is a message in either spelling: that of Lambda or that of the SQS API.
type record struct {
	MessageID         string               `json:"messageId"`
	Body              string               `json:"body"`
	MessageAttributes map[string]attribute `json:"messageAttributes"`
	Attributes        struct{ AWSTraceHeader string }
}

// decode reads the messages of a batch. from says who gives it in this form.
func decode(batch event.Node, from string) ([]Message, bool, error) {
	var records []record
	if err := json.Unmarshal([]byte(batch.Raw()), &records); err != nil {
		return nil, false, fmt.Errorf("this is not what %s: %w", from, err)
	}
	var list []Message
	for _, r := range records {
		list = append(list, Message{ID: r.MessageID, header: r.Attributes.AWSTraceHeader,
			Message: envelope.Message{Body: r.Body, Attributes: texts(r.MessageAttributes)}})
	}
	return list, true, nil
}
