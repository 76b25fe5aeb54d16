package ingottest

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

// largePayloads is the bucket that the ingest function may read payloads from.
const largePayloads = "large-payloads"

// PutPayload puts a payload that is too large for a message into S3, as the extended client
// libraries of SQS do. It returns the pointer that they send in its place. Send that. The ingest
// function reads the payload from there, by a request that counts for [World.Crash] like all
// others.
func (w *World) PutPayload(payload string) (pointer string) {
	w.t.Helper()
	if w.payloads == nil {
		w.payloads = map[envelope.Pointer]string{}
		w.must(stack.CreateArchive(w.ctx, w.world.Engine.S3(), largePayloads))
	}
	w.objects++
	p := envelope.Pointer{Bucket: largePayloads, Key: fmt.Sprint(w.objects)}
	_, err := w.world.Engine.S3().PutObject(w.ctx,
		&s3.PutObjectInput{Bucket: &p.Bucket, Key: &p.Key, Body: strings.NewReader(payload)})
	w.must(err)
	w.payloads[p] = payload
	return fmt.Sprintf(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":%q,"s3Key":%q}]`, p.Bucket, p.Key)
}

// RemovePayload removes the object that a pointer of [World.PutPayload] names, as a lifecycle rule
// of the bucket may do too early. A message that points to it is Retry, and ends in the dead-letter
// queue.
func (w *World) RemovePayload(pointer string) {
	w.t.Helper()
	p, is := envelope.PointerOf(envelope.Message{Body: pointer})
	if _, there := w.payloads[p]; !is || !there {
		w.t.Fatalf("ingottest: RemovePayload(%.200q): give it a pointer from PutPayload whose object is still there", pointer)
	}
	_, err := w.world.Engine.S3().DeleteObject(w.ctx,
		&s3.DeleteObjectInput{Bucket: aws.String(p.Bucket), Key: aws.String(p.Key)})
	w.must(err)
	delete(w.payloads, p)
}

// Payload returns the whole payload of a stored event, wherever it is. If the event's type has
// offload and its payload is in the payload bucket, the item has only a part of it in Data.
func (w *World) Payload(item *event.Item) string {
	w.t.Helper()
	text, err := w.reader.Payload(w.ctx, item)
	w.must(err)
	return text
}

// LosePayload removes the object that holds the payload of a stored event from the payload bucket,
// as a lifecycle rule may do too early, or a person. The event still counts. Its archived form
// lacks the payload, and a touch pass cannot bring it into a new aggregate.
func (w *World) LosePayload(item *event.Item) {
	w.t.Helper()
	if item.Payload == nil {
		w.t.Fatalf("ingottest: LosePayload(%s): its payload is in the item; give it an item whose Payload is not nil", item.Key)
	}
	if _, err := w.reader.Payload(w.ctx, item); err != nil {
		w.t.Fatalf("ingottest: LosePayload(%s): %v", item.Key, err)
	}
	name := payloads.Name(item.Type, item.Key, item.Payload.Sum)
	_, err := w.world.Engine.S3().DeleteObject(w.ctx,
		&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: &name})
	w.must(err)
}

// read returns a message with the payload that it points to, if there is one.
func (w *World) read(m envelope.Message) envelope.Message {
	if p, is := envelope.PointerOf(m); is {
		if payload, there := w.payloads[p]; there {
			m.Payload = &payload
		}
	}
	return m
}
