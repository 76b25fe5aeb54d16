package quarantine

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// Letter is a message that was pulled, as its file holds it.
type Letter struct {
	ID       string    `json:"id"`    // the message id in its queue
	Queue    string    `json:"queue"` // URL of the queue that it was pulled from
	Dead     bool      `json:"dead"`  // that queue is the dead-letter queue
	Sent     time.Time `json:"sent"`  // when it came to that queue
	Pulled   time.Time `json:"pulled"`
	Receives int       `json:"receives"`
	Handle   string    `json:"receiptHandle"` // of the latest receive
	Group    string    `json:"group,omitempty"`
	// Note says why the message is in quarantine. A dead letter has none.
	Note *quarantine.Note `json:"note,omitempty"`

	MD5           string               `json:"md5"` // of Body, in hex
	AttributesMD5 string               `json:"attributesMd5,omitempty"`
	Body          string               `json:"body"`
	Attributes    map[string]Attribute `json:"attributes,omitempty"` // as its producer sent them: without the note

	// Original is the body as it was pulled, if it was edited since.
	Original *string `json:"original,omitempty"`
	// Seen are the digests of the stored events that a person was shown next to this message: one
	// for each event that is sent again, empty where nothing was stored. Only these events may be
	// replaced. It is nil if nothing was shown.
	Seen []string `json:"seen,omitempty"`
	// Replaced are the stored events that were deleted to make room for this message. Each is saved
	// before it is deleted.
	Replaced []Replaced `json:"replaced,omitempty"`
	Resent   *Resent    `json:"resent,omitempty"`
	Deleted  time.Time  `json:"deleted,omitzero"` // when it was deleted from its queue; zero: it is still there
}

// Attribute is a message attribute. It has a text or a binary value.
type Attribute struct {
	Type   string  `json:"type"`
	Text   *string `json:"text,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
}

// Replaced is a stored event that was deleted so that a message could take its place.
type Replaced struct {
	At     time.Time `json:"at"`
	PK     string    `json:"pk"`
	SK     string    `json:"sk"`
	Type   string    `json:"type"`
	ID     string    `json:"id"`
	Time   string    `json:"time"`
	Digest string    `json:"digest"`
	Data   string    `json:"data"`
}

// Resent is the proof that a message was sent again.
type Resent struct {
	At        time.Time `json:"at"`
	Queue     string    `json:"queue"`
	MessageID string    `json:"messageId"`
	MD5       string    `json:"md5"` // of the body that was sent
}

// State says in one word what became of a letter.
func (l *Letter) State() string {
	switch {
	case l.Resent != nil && l.Deleted.IsZero():
		return "sent, not deleted"
	case l.Resent != nil:
		return "resent"
	case !l.Deleted.IsZero():
		return "dropped"
	case l.Original != nil:
		return "edited"
	}
	return "open"
}

// Open reports whether there is still something to do about the letter.
func (l *Letter) Open() bool { return l.Deleted.IsZero() }

// OfStream reports whether the letter is from the streams function or the publish function. Such a
// letter is about a stored item or a total. It is not a message that could be sent.
func (l *Letter) OfStream() bool { return l.Note.OfStream() }

// Edit gives the letter another body. It keeps the body as it was pulled. What a person was shown
// does not hold for the new one.
func (l *Letter) Edit(body string) {
	first := l.first()
	l.Body, l.Original, l.Seen = body, &first.Body, nil
	if body == first.Body || body == first.Sends() {
		l.Body, l.Original = first.Body, nil
	}
}

// first returns the letter with the body that was pulled.
func (l *Letter) first() Letter {
	first := *l
	first.Body, first.Original = l.original(), nil
	return first
}

// Message returns the letter as the envelope sees it if it is sent again.
func (l *Letter) Message() envelope.Message {
	m := l.whole()
	m.Body = l.Sends()
	return m
}

// Sends returns the body that is sent again. If the message has several events, this is the message
// with those that could not be stored, because the others are stored. An edited body is sent as it
// is.
func (l *Letter) Sends() string {
	body, _ := l.kept()
	return body
}

// kept returns the body that is sent again, and for each place in it where the event stood in the
// message that is in quarantine.
func (l *Letter) kept() (body string, moved map[string]string) {
	if l.Original == nil && l.Note != nil && len(l.Note.Events) > 0 {
		if body, moved, ok := keep(l.whole(), l.Note); ok {
			return body, moved
		}
	}
	return l.Body, nil
}

// whole returns the message with its whole body as it is now.
func (l *Letter) whole() envelope.Message {
	m := envelope.Message{Body: l.Body}
	for name, a := range l.Attributes {
		if a.Text != nil {
			if m.Attributes == nil {
				m.Attributes = map[string]string{}
			}
			m.Attributes[name] = *a.Text
		}
	}
	return m
}

// Received returns a letter for a message that SQS has returned.
func Received(m types.Message, queue string, dead bool, now time.Time) *Letter {
	l := &Letter{ID: aws.ToString(m.MessageId), Queue: queue, Dead: dead, Pulled: now.UTC(), Handle: aws.ToString(m.ReceiptHandle),
		Body: aws.ToString(m.Body), Group: m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]}
	if ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64); err == nil {
		l.Sent = time.UnixMilli(ms).UTC()
	}
	l.Receives, _ = strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	for name, a := range m.MessageAttributes {
		if note, is := noteOf(name, a); is {
			l.Note = &note
			if note.Group != "" {
				l.Group = note.Group
			}
			continue
		}
		if l.Attributes == nil {
			l.Attributes = map[string]Attribute{}
		}
		l.Attributes[name] = Attribute{aws.ToString(a.DataType), a.StringValue, a.BinaryValue}
	}
	l.MD5, l.AttributesMD5 = md5Of(l.Body), attributesMD5(l.Attributes)
	return l
}

// noteOf reads Ingot's own attribute. A producer's attribute of the same name is not a note.
func noteOf(name string, a types.MessageAttributeValue) (quarantine.Note, bool) {
	if name != quarantine.Attribute || aws.ToString(a.DataType) != "String" || a.StringValue == nil {
		return quarantine.Note{}, false
	}
	return quarantine.ReadNote(*a.StringValue)
}

// check returns an error for a file whose parts contradict each other.
func (l *Letter) check() error {
	switch original := l.original(); {
	case l.ID == "" || l.Queue == "":
		return errors.New("it has no id or no queue")
	case l.MD5 != md5Of(original):
		return fmt.Errorf("its body is not the one that was pulled: the MD5 differs; put it back, and change the body in %s.body", l.ID)
	case l.AttributesMD5 != attributesMD5(l.Attributes):
		return errors.New("its attributes are not those that were pulled: the MD5 differs")
	}
	return nil
}

func (l *Letter) original() string {
	if l.Original != nil {
		return *l.Original
	}
	return l.Body
}

// These are limits of SQS for a message.
const maxMessage = 1 << 20

// CheckBody returns an error if SQS would refuse the body.
func (l *Letter) CheckBody(body string) error {
	size := len(body)
	for name, a := range l.Attributes {
		size += len(name) + len(a.Type) + len(a.Binary)
		if a.Text != nil {
			size += len(*a.Text)
		}
	}
	if !utf8.ValidString(body) {
		return errors.New("the body is not UTF-8; SQS takes nothing else")
	}
	for at, r := range body {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return fmt.Errorf(
				"the body has the character U+%04X at byte %d, which SQS does not take; write it as \\u%04x inside a JSON string", r, at, r)
		}
	}
	switch {
	case body == "":
		return errors.New("the body is empty; SQS takes no empty message")
	case size > maxMessage:
		return fmt.Errorf("the message has %d bytes with its attributes, and SQS takes %d", size, maxMessage)
	}
	return nil
}

func md5Of(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is the checksum that SQS answers for attributes (Developer Guide, "Calculating the
// MD5 message digest for message attributes"). It is empty if there are none.
func attributesMD5(attributes map[string]Attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	h := md5.New()
	framed := func(b []byte) {
		_ = binary.Write(h, binary.BigEndian, uint32(len(b))) // a hash takes everything
		h.Write(b)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		framed([]byte(name))
		framed([]byte(a.Type))
		if a.Text != nil {
			h.Write([]byte{1})
			framed([]byte(*a.Text))
		} else {
			h.Write([]byte{2})
			framed(a.Binary)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
