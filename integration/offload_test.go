package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// TestOffloadedPayloads sends orders with long notes through a real bucket. Their items keep what
// totals need, and they are events like others: copies are Duplicates, another note is a Conflict
// that names the note, and a new generation reads the rest from the bucket.
func TestOffloadedPayloads(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		bucket := name(t)
		must.Succeed(t, stack.CreateArchive(ctx, b.s3, bucket))
		w := newWorld(t, b, aggregate.Marks, func(w *world) {
			w.payloads = bucket
			o := w.spec.Events["order"]
			o.Offload = pipeline.OffloadSpec{Over: 1 << 10}
			w.spec.Events["order"] = o
		})
		at := w.now().Add(-time.Hour) // a payload may be 30 days ahead of the clock, and LocalStack has its own
		long := func(id string, cents float64, note string) string {
			return strings.TrimSuffix(order("m0", id, cents, at), "}") + `,"pages":3,"note":"` + note + strings.Repeat("é\\n", 2000) + `"}`
		}
		objects := func() int {
			out, err := b.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket})
			must.Succeed(t, err)
			return len(out.Contents)
		}
		mapping := w.mapping(b.streams)
		w.send(long("o1", 100, "a"), long("o2", 30, "a"), order("m0", "o3", 7, at))
		w.consume()
		w.drain(mapping, 3)
		w.live("live", "orders 3 revenue 137")
		if n := objects(); n != 2 || w.verdicts[event.Inserted] != 3 {
			t.Fatalf("%d objects, %v", n, w.verdicts)
		}
		item, err := w.plan.Plan(envelope.Message{Body: long("o1", 100, "a")})
		must.Succeed(t, err)
		stored, err := w.store.Item(ctx, item.Key)
		if err != nil || stored.Payload == nil || stored.Data != item.Data || strings.Contains(stored.Data, "note") {
			t.Fatalf("it is stored as %+v, %v", stored, err)
		}
		text, err := (&payloads.Bucket{Client: b.s3, Name: bucket}).Get(ctx, w.env.Real(), item.Type, item.Key, item.Payload.Sum)
		if err != nil || text != item.Payload.Text {
			t.Errorf("the object is %d bytes, %v", len(text), err)
		}

		w.send(long("o1", 100, "a"), long("o2", 30, "b"))
		w.consume()
		if w.verdicts[event.Duplicate] != 1 || w.verdicts[event.Conflict] != 1 ||
			w.attribute(w.quarantine, types.QueueAttributeNameApproximateNumberOfMessages) != "1" {
			t.Errorf("%v", w.verdicts)
		}
		for _, m := range w.take(w.quarantine) {
			if verdict, _ := w.note(m); verdict != "Conflict" || !strings.Contains(aws.ToString(m.MessageAttributes["ingot"].StringValue),
				"they differ in note") {
				t.Errorf("%s: %s", verdict, aws.ToString(m.MessageAttributes["ingot"].StringValue))
			}
		}

		spec := w.spec
		spec.Epoch++
		spec.Aggregates["pages"] = pipeline.AggregateSpec{Since: spec.Epoch,
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"pages": "sum pages?"}}}}
		w.deploy(spec)
		mapping = w.mapping(b.streams)
		touched, err := repair.Of(w.store).Touch(ctx)
		if err != nil || touched.Touched != 3 {
			t.Fatalf("touched %+v, %v", touched, err)
		}
		w.drain(mapping, 3+3)
		w.live("pages", "pages 6")

		_, err = repair.Of(w.store).Erase(ctx, item.Key)
		must.Succeed(t, err)
		w.send(long("o1", 100, "a"))
		w.consume()
		if n := objects(); n != 2 || w.verdicts[event.Duplicate] != 2 { // those of o2: what is stored, and the Conflict's
			t.Errorf("%d objects, %v", n, w.verdicts)
		}
	})
}
