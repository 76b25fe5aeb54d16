package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

// TestPayloadsInS3 sends pointers as the extended client libraries do, in both spellings, to
// objects in a real bucket. They are events like others. A pointer whose object is missing ends in
// the dead-letter queue unchanged. When the object is back, it is an event like others.
func TestPayloadsInS3(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		w := newWorld(t, b, aggregate.Marks)
		bucket := name(t)
		must.Succeed(t, stack.CreateArchive(ctx, b.s3, bucket))
		put := func(key, body string) {
			t.Helper()
			_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)})
			must.Succeed(t, err)
		}
		pointer := func(class, key string) string {
			return fmt.Sprintf(`[%q, {"s3BucketName": %q, "s3Key": %q}]`, class, bucket, key)
		}
		const java, legacy = "software.amazon.payloadoffloading.PayloadS3Pointer", "com.amazon.sqs.javamessaging.MessageS3Pointer"
		w.ingest.Payloads = handler.NewPayloads(b.s3, bucket)
		mapping := w.mapping(b.streams)
		put("a/1", order("m0", "o1", 100, began))
		put("a/2 ü", order("m0", "o2", 30, began))
		put("vast", strings.Repeat(" ", payloads.Max+1))
		before := b.sent()
		w.send(pointer(java, "a/1"), pointer(legacy, "a/2 ü"), order("m0", "o3", 7, began), pointer(java, "vast"))
		w.consume()
		must.Equal(t, b.since(before)["GetObject"], 3)
		w.drain(mapping, 3)
		w.live("live", "orders 3 revenue 137")
		if w.verdicts[event.Inserted] != 3 || w.verdicts[event.Poison] != 1 ||
			w.attribute(w.quarantine, types.QueueAttributeNameApproximateNumberOfMessages) != "1" {
			t.Errorf("%v", w.verdicts)
		}

		w.send(pointer(java, "a/1"), order("m0", "o2", 30, began), pointer(java, "gone"))
		w.consume()
		if w.verdicts[event.Duplicate] != 2 || w.verdicts[event.Retry] != 3 ||
			w.attribute(w.dead, types.QueueAttributeNameApproximateNumberOfMessages) != "1" {
			t.Errorf("%v", w.verdicts)
		}
		put("gone", order("m0", "o4", 1, began))
		l := newLetters(w)
		letters := l.pull(w.dead)
		if len(letters) != 1 || letters[0].Body != pointer(java, "gone") {
			t.Fatalf("%+v", letters)
		}
		w.send(letters[0].Body)
		w.consume()
		w.drain(mapping, 1)
		w.live("live", "orders 4 revenue 138")
		if _, err := b.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("vast")}); err != nil {
			t.Error(err)
		}
	})
}
