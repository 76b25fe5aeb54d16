package handler

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

// Downloader is what Payloads needs of S3. A *s3.Client is a Downloader.
type Downloader interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Payloads reads payloads that are too large for a message. The extended client libraries of SQS
// put them into S3, and send a pointer: see [envelope.Pointer].
type Payloads struct{ reader payloads.Reader }

// NewPayloads makes a [Payloads] that reads from these buckets alone. Anyone who may send a message
// can name any object in them, so they must hold nothing else than payloads.
func NewPayloads(client Downloader, buckets ...string) *Payloads {
	return &Payloads{payloads.Reader{Client: client, Buckets: buckets}}
}

// find returns where the payload of a message is, or why it cannot be read.
func (p *Payloads) find(m envelope.Message) (*envelope.Pointer, *event.Refusal) {
	pointer, is := envelope.PointerOf(m)
	if !is {
		return nil, event.Poisoned(event.PayloadElsewhere, "the payload is elsewhere, and the message does not say where")
	}
	if refusal := p.reader.Allowed(pointer); refusal != nil {
		return nil, refusal
	}
	return &pointer, nil
}

const (
	// pointedRoom is how many bytes of payloads from S3 are in memory at once. They are read,
	// planned and put before the next ones are read. A larger object is read when no other payload
	// is in memory.
	pointedRoom = 4 << 20
	// pointedAtOnce is the largest number of messages that are handled together, and readAtOnce the
	// number of requests at the same time.
	pointedAtOnce, readAtOnce = 100, 8
)

// follow settles the messages whose payloads are in S3. It reads as many payloads as fit into
// memory, puts the items, and goes on. If no time is left, the remaining messages go back
// untouched.
func (b *ingestBatch) follow(todo []*Outcome) {
	for len(todo) > 0 {
		if b.writing.Err() != nil {
			for _, o := range todo {
				o.leave(noTime)
			}
			return
		}
		n := min(len(todo), pointedAtOnce)
		later := b.followSome(todo[:n])
		todo = append(later, todo[n:]...)
	}
}

// followSome reads, plans and puts these messages. It returns those that did not fit into memory.
// One object always fits, whatever its size.
func (b *ingestBatch) followSome(todo []*Outcome) (later []*Outcome) {
	room := &payloads.Room{Size: pointedRoom}
	texts, errs := make([]string, len(todo)), make([]error, len(todo))
	b.env.Each(len(todo), readAtOnce, func(n int) {
		taken := payloads.Share{Of: room} // until all are put
		texts[n], errs[n] = b.Payloads.reader.Read(b.writing, b.env, *todo[n].pointer, taken.Fits)
	})
	var load load
	for n, o := range todo {
		switch {
		case errors.Is(errs[n], payloads.ErrNoRoom):
			later = append(later, o)
		case errs[n] != nil:
			o.unread(errs[n])
		case b.plan(o, &texts[n]) && load.add(o):
			b.put(&load)
		}
		texts[n] = "" // the planned item holds it, and nothing else needs it
	}
	if slices.ContainsFunc(load.items, func(item *event.Item) bool { return item.Payload != nil }) {
		payloads.Tidy(room.Used()) // uploading them takes memory, too
	}
	load.bytes += int(room.Used()) // put releases the payloads that were read, too
	b.put(&load)
	return later
}

// followOne reads and plans one message. It returns false if the message goes back.
func (b *ingestBatch) followOne(o *Outcome) bool {
	read := int64(0)
	text, err := b.Payloads.reader.Read(b.writing, b.env, *o.pointer, func(size int64) bool {
		read = size
		return true
	})
	if err != nil {
		o.unread(err)
		return o.Verdict != event.Retry
	}
	defer payloads.Tidy(read)
	return b.plan(o, &text)
}

// unread takes the reason why a payload could not be read.
func (o *Outcome) unread(err error) {
	if !errors.As(err, &o.Refusal) {
		o.Refusal = &event.Refusal{Verdict: event.Retry, Reason: event.PayloadUnread, Detail: err.Error()}
	}
	o.Verdict = o.Refusal.Verdict
}
