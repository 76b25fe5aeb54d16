package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/pipeline"
)

// offload is what the payload bucket holds.
type offload struct {
	*World
	draw  *rand.Rand               // draws which payloads are lost
	loose map[string][]*invocation // by object of the payload bucket: who has put it there and not settled its message
}

// In worlds whose plan has Offload, many orders have a note. From that epoch on, payloads with long
// notes go to the payload bucket, and their items keep what the pipeline uses. The second epoch
// uses more than the first.

// planOffload decides whether large payloads go to the payload bucket. Its draw is its own, so that
// other worlds stay as they are.
func (p *Plan) planOffload() {
	draw := rand.New(rand.NewPCG(p.Seed, 16))
	if draw.IntN(5) > 0 || p.Packed > 0 || p.NewForm {
		return
	}
	if p.Offload = 1; p.Upgrade > 0 && draw.IntN(3) == 0 {
		p.Offload = 2
	}
}

const (
	payloadBucket = "payloads"
	// over is how many bytes a payload may have before it goes to the payload bucket.
	over = aUnit
)

// addOffload declares that payloads of orders go to the payload bucket from the epoch since on. The
// second epoch has an aggregate of their notes, which no item of the first keeps.
func addOffload(spec *pipeline.Spec, since int64) {
	if spec.Epoch >= since {
		order := spec.Events["order"]
		order.Offload.Over = over
		spec.Events["order"] = order
	}
	if _, newer := spec.Aggregates["status"]; newer {
		spec.Aggregates["noted"] = pipeline.AggregateSpec{Since: 2, OnExpire: "subtract",
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"notes": "count where exists note"}}}}
	}
}

// payloadAt returns the text of an object of the payload bucket. It is empty if there is none.
func (w *offload) payloadAt(name string) string {
	out, err := w.ingot.Engine.S3().GetObject(context.Background(), &s3.GetObjectInput{Bucket: aws.String(payloadBucket), Key: &name})
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(out.Body)
	w.Must(err)
	return string(text)
}

// checkOffloaded checks where a payload is. Code that offloads puts a large one into the bucket,
// and does so before it stores the item. The item keeps exactly what the pipeline of its stamp
// uses, spelled as it came.
func (w *offload) checkOffloaded(c *model.Change) (is bool) {
	img := c.New
	switch e := img.Elsewhere; {
	case c.Old != nil && c.Old.Fact == img.Fact:
		if (e == nil) != (c.Old.Elsewhere == nil) || e != nil && e.Sum != c.Old.Elsewhere.Sum {
			w.Fail(Altered, "%s has its payload in another place than before", img.Key())
		}
	case (e != nil) != (w.plan.Offload > 0 && img.Type == "order" && img.Epoch >= w.plan.Offload && len(img.Data) > over):
		w.Fail(Altered, "%s has %d bytes, and that its payload is in the bucket is %v, by code of epoch %d", img.Key(), len(img.Data),
			e != nil, img.Epoch)
	case e != nil && !w.model.Lost[e.Sum] && w.payloadAt(img.ObjectName()) != img.Data:
		w.Fail(Altered, "%s is stored, and its payload is not in the bucket", img.Key())
	}
	if img.Elsewhere == nil {
		return false
	}
	w.Faults[offloaded]++
	var whole, kept map[string]json.RawMessage
	if json.Unmarshal([]byte(img.Data), &whole) != nil || json.Unmarshal([]byte(img.Elsewhere.Kept), &kept) != nil {
		w.Fail(Altered, "%s keeps no object: %s", img.Key(), img.Elsewhere.Kept)
		return true
	}
	if img.Epoch < 2 {
		delete(whole, "note")
	}
	if !w.wholes.knowsParts(img.Epoch) {
		delete(whole, "lines")
		delete(whole, "coupons")
		delete(whole, "shelves")
	}
	for _, name := range sortedKeys(whole) {
		if string(kept[name]) != string(whole[name]) {
			w.Fail(Altered, "%s keeps %s of %s, and its event says %s", img.Key(), kept[name], name, whole[name])
		}
	}
	if len(kept) != len(whole) {
		w.Fail(Altered, "%s keeps more than its pipeline uses: %s", img.Key(), img.Elsewhere.Kept)
	}
	return true
}

// checkTakenBack checks a message whose event was erased. Its payload must not be in the bucket
// again, unless another invocation may have put it there just now.
func (w *offload) checkTakenBack(inv *invocation, m *message) {
	if w.plan.Offload == 0 || m.fact.Type != "order" || inv.epoch < w.plan.Offload || len(w.Invocations) > 1 {
		return
	}
	if w.payloadAt(m.objectName()) != "" {
		w.Fail(Returned, "%s was erased, and its payload is in the bucket again", m.fact.Key())
	}
}

// noteUpload takes what an invocation says of a message. Once it has settled the message, its
// upload needs no other delivery to be taken back. Otherwise the upload stays loose: the message
// may have been settled by another delivery before.
func (w *offload) noteUpload(inv *invocation, m *message, settled bool) {
	if w.plan.Offload == 0 || m.fact.Type != "order" {
		return
	}
	name := m.objectName()
	if list, is := w.loose[name]; is && settled {
		w.loose[name] = slices.DeleteFunc(list, func(by *invocation) bool { return by == inv })
	} else if is {
		w.loose[name] = append(list, nil)
	}
}

// objectName returns the name of the object that holds the payload of a message, if it is large.
func (m *message) objectName() string {
	sum := sha256.Sum256([]byte(m.carried()))
	return model.PayloadFolder(m.fact) + hex.EncodeToString(sum[:]) + ".json"
}

// checkBucket checks the payload bucket at rest. No stored item is without its payload. Every
// object is the large payload of an order that was sent. Nothing is there of an order that was
// erased, unless its erasure has not finished, or an invocation has put it there and ended before
// it settled the message: then a person has to erase it again.
func (w *offload) checkBucket() {
	if w.plan.Offload == 0 {
		return
	}
	for _, key := range sortedKeys(w.model.Keys) {
		if live := w.model.Keys[key].Live; live != nil && live.Elsewhere != nil && !w.model.Lost[live.Elsewhere.Sum] &&
			w.payloadAt(live.ObjectName()) != live.Data {
			w.Fail(Altered, "%s is stored at rest, and its payload is not in the bucket", key)
			return
		}
	}
	sentAs := map[string]*message{}
	for _, body := range sortedKeys(w.sent) {
		for _, m := range append([]*message{w.sent[body]}, w.sent[body].events...) {
			if !m.malformed && m.fact.Type == "order" && len(m.carried()) > over {
				sentAs[m.objectName()] = m
			}
		}
	}
	in := &s3.ListObjectsV2Input{Bucket: aws.String(payloadBucket)}
	for {
		out, err := w.ingot.Engine.S3().ListObjectsV2(context.Background(), in)
		if w.Must(err); err != nil {
			return
		}
		for _, o := range out.Contents {
			m := sentAs[*o.Key]
			if m == nil || w.payloadAt(*o.Key) != m.carried() {
				w.Fail(Altered, "%s is in the payload bucket, and is not the large payload of an order", *o.Key)
				return
			}
			if img := w.model.Keys[m.fact.Key()].Holds(); img != nil && img.Barred && w.erasures.erasing[m.fact.Key()] == 0 &&
				len(w.loose[*o.Key]) == 0 {
				w.Fail(Returned, "%s was erased, and at rest its payload is in the bucket", m.fact.Key())
				return
			}
		}
		if in.ContinuationToken = out.NextContinuationToken; in.ContinuationToken == nil {
			return
		}
	}
}

// checkPayloadsErased checks that an event that was erased has left no payload behind.
func (w *offload) checkPayloadsErased(of model.Fact) {
	if w.plan.Offload == 0 || len(w.Invocations) > 0 {
		return
	}
	out, err := w.ingot.Engine.S3().ListObjectsV2(context.Background(),
		&s3.ListObjectsV2Input{Bucket: aws.String(payloadBucket), Prefix: aws.String(model.PayloadFolder(of))})
	w.Must(err)
	if err == nil && len(out.Contents) > 0 {
		w.Fail(Returned, "%s was erased, and its payload is still in the bucket", of.Key())
	}
}

// reads reports whether a reader of the image gets this item: with its payload, or with what it
// keeps of it.
func reads(img *model.Image, got *event.Item) bool {
	if got.Payload == nil || img.Elsewhere == nil {
		return got.Payload == nil && img.Elsewhere == nil && img.Data == got.Data
	}
	return img.Elsewhere.Sum == got.Payload.Sum && img.Elsewhere.Kept == got.Data
}

// losePayload lets somebody delete the payload of a stored order.
func (w *offload) losePayload() {
	if w.plan.Offload == 0 || w.plan.Upgrade > 0 || !w.plan.People || w.draw.IntN(100) > 0 {
		return
	}
	var there []string
	for _, key := range sortedKeys(w.model.Keys) {
		if live := w.model.Keys[key].Live; live != nil && live.Elsewhere != nil && !w.model.Lost[live.Elsewhere.Sum] {
			there = append(there, key)
		}
	}
	if len(there) == 0 {
		return
	}
	live := w.model.Keys[there[w.draw.IntN(len(there))]].Live
	w.Fault(payloadGone, live.Key())
	w.model.Lost[live.Elsewhere.Sum] = true
	_, err := w.ingot.Engine.S3().DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: aws.String(payloadBucket),
		Key: aws.String(live.ObjectName())})
	w.Must(err)
}

// isLost reports whether the payload of an image may be lost when the archive asks for it: somebody
// has deleted it, or the event was erased after its item had expired.
func (w *offload) isLost(img *model.Image) bool {
	return w.model.Lost[img.Elsewhere.Sum] || w.model.History(img.Key()).Barred
}

// large is the payload bucket as an invocation or a person's machine reaches it.
type large struct{ w *World }

func (l large) GetObject(ctx context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return stage.Request(&l.w.World, ctx, "GetObject", false, nil, func() (*s3.GetObjectOutput, error) {
		return l.w.ingot.Engine.S3().GetObject(l.w.Sent(), in)
	})
}

func (l large) PutObject(ctx context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return stage.Request(&l.w.World, ctx, "PutObject", false, nil, func() (*s3.PutObjectOutput, error) {
		l.w.offload.loose[*in.Key] = append(l.w.offload.loose[*in.Key], invocationOf(l.w.Current))
		return l.w.ingot.Engine.S3().PutObject(l.w.Sent(), in)
	})
}

func (l large) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, _ ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	return stage.Request(&l.w.World, ctx, "DeleteObject", false, nil, func() (*s3.DeleteObjectOutput, error) {
		return l.w.ingot.Engine.S3().DeleteObject(l.w.Sent(), in)
	})
}

func (l large) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	return stage.Request(&l.w.World, ctx, "DeleteObjects", false, nil, func() (*s3.DeleteObjectsOutput, error) {
		return l.w.ingot.Engine.S3().DeleteObjects(l.w.Sent(), in)
	})
}

func (l large) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	return stage.Request(&l.w.World, ctx, "ListObjectsV2", false, nil, func() (*s3.ListObjectsV2Output, error) {
		return l.w.ingot.Engine.S3().ListObjectsV2(l.w.Sent(), in)
	})
}
