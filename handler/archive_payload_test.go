package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// offloading lets the payloads of orders go to the payload bucket.
func offloading(s *setup) {
	o := s.spec.Events["order"]
	o.Offload = pipeline.OffloadSpec{Over: 1 << 10}
	s.spec.Events["order"] = o
}

// long is an order of more than 1 KB, with all that JSON in JSON has to escape.
func long(id string, cents int) string {
	body := order(id, cents, `"text":"`+strings.Repeat("x", 1100)+`\n\t\"\\\/\u0001é\ud83d\ude00<&>`+"\u2028\"",
		"\t\"more\" :\r\n [ 1.50 , null ]")
	return strings.Replace(body, `,"cents"`, ` , "cents"`, 1)
}

// gone loses the object of an offloaded order.
func (w *world) gone(body string) {
	w.t.Helper()
	item, err := w.plan.Plan(envelope.Message{Body: body})
	if err != nil || item.Payload == nil {
		w.t.Fatalf("%+v, %v", item, err)
	}
	name := payloads.Name(item.Type, item.Key, item.Payload.Sum)
	_, err = w.Engine.S3().DeleteObject(context.Background(),
		&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: &name})
	must.Succeed(w.t, err)
}

// The archive holds the payload itself: the same bytes as if it had never left the item.
func TestArchiveHoldsThePayload(t *testing.T) {
	var all []map[string]string
	sent := map[string]bool{}
	for _, options := range [][]func(*setup){nil, {offloading}} {
		w := newWorld(t, options...).started()
		var records []map[string]any
		for i := range 20 {
			body := long(fmt.Sprint(i), i)
			if i%2 == 1 {
				body = order(fmt.Sprint(i), i)
			}
			sent[body], records = true, append(records, expiry(i+1, w.image(body)))
		}
		w.expect(batch(records...), done)
		must.Equal(t, w.reported(), "Received 20, Archived 20, Updates 2")
		must.Equal(t, w.calls["GetObject"], 10*len(options))
		all = append(all, w.archived())
		before := w.archived()
		w.expect(batch(records...), done) // a redelivery
		must.Match(t, before, w.archived())
	}
	must.Equal(t, len(all[0]), 20)
	must.Match(t, all[1], all[0])
	for _, body := range all[1] {
		doc, err := event.ParseDocument(body)
		if err != nil || body != string(keys.Canonical(nil, doc.Root(), nil)) || strings.Contains(body, "i:payload") {
			t.Fatalf("%v, not canonical: %s", err, body)
		}
		var image struct{ Data struct{ S string } }
		if err := json.Unmarshal([]byte(body), &image); err != nil || !sent[image.Data.S] {
			t.Fatalf("%v: nobody has sent %s", err, image.Data.S)
		}
	}
}

// An object that is gone never holds up the shard. The image is archived as it is, and the log says
// so without a value of the event.
func TestArchiveOfALostPayload(t *testing.T) {
	w := newWorld(t, offloading).started()
	a, b := w.image(long("1", 5)), w.image(long("2", 7))
	w.gone(long("1", 5))
	w.expect(batch(expiry(1, a), expiry(2, b)), done)
	must.Equal(t, w.reported(), "Received 2, Archived 2, PayloadsLost 1, Updates 2")
	objects := w.archived()
	must.Equal(t, len(objects), 2)
	lost := 0
	for _, body := range objects {
		if strings.Contains(body, "i:payload") {
			lost++
			must.Say(t, body, `\"cents\":5`)
			must.Equal(t, strings.Contains(body, "xxx"), false, body)
		}
	}
	must.Equal(t, lost, 1)
	must.Say(t, w.log.String(), "archived without its payload", "ORDER#1 / ORDER")
	must.Equal(t, strings.Contains(w.log.String(), "cents"), false, &w.log)
}

// inTurn is a group whose functions run one after the other.
type inTurn struct{}

func (inTurn) Go(f func()) { f() }
func (inTurn) Wait()       {}

// While S3 does not answer, or the role may not read, the batch is held at its first such record,
// and counted all the same. Nothing is archived without its payload.
func TestArchiveWhilePayloadsCannotBeRead(t *testing.T) {
	for what, c := range map[string]struct {
		err  error
		most int // requests for one payload
	}{"no answer": {errLost, 3}, "busy": {&smithy.GenericAPIError{Code: "SlowDown"}, 3},
		"denied": {&smithy.GenericAPIError{Code: "AccessDenied"}, 1}} {
		w := newWorld(t, offloading, func(s *setup) {
			s.env = func(clock *testworld.Clock) env.Env { // a payload that is refused sooner would hold up the record before it
				e := clock.Env(rand.Float64)
				e.Deadline = nil // as Lambda does, the harness gives a deadline by the real clock
				e.Group = func() env.Group { return inTurn{} }
				return e
			}
		}).started()
		plain, a := w.image(order("1", 5)), w.image(long("2", 7))
		e := batch(expiry(1, plain), expiry(2, a), w.inserted(3, "3", 1))
		w.refuse("GetObject", c.err)
		w.expect(e, from(2))
		w.faults = nil
		must.Equal(t, w.calls["GetObject"], c.most, what)
		must.Equal(t, len(w.archived()), 1, what)
		must.Equal(t, w.counted[0].PayloadsLost, 0, what)
		w.sums(t, "live", "-1", "-11")
		w.faults = []fault{{API: "GetObject", Before: c.err}}
		if c.most == 1 {
			w.faults = nil
		}
		w.expect(e, done)
		w.sums(t, "live", "-1", "-11")
		must.Equal(t, len(w.archived()), 2, what)
	}
}

// Only as many payloads are in memory at once as there is room for. A larger one comes alone.
func TestArchiveReadsWithinItsRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory, which the race detector multiplies")
	}
	const mb = 1 << 20
	w := newWorld(t, offloading, func(s *setup) { s.env = real }).started()
	var records []map[string]any
	sizes := []int{9, 1, 1, 1, 3, 9, 2, 1, 1, 1, 1, 1, 5, 1}
	for i, n := range sizes {
		image := w.image(order(fmt.Sprint(i), 1, `"text":"`+strings.Repeat("x", 2000)+`"`))
		item, err := w.plan.Plan(envelope.Message{Body: order(fmt.Sprint(i), 1, `"text":"`+strings.Repeat("x", n*mb-200)+`"`)})
		must.Succeed(t, err)
		must.Succeed(t, (&payloads.Bucket{Client: w.Engine.S3(), Name: stack.Payloads}).Put(t.Context(), w.Env, item.Type, item.Key,
			item.Payload.Sum, item.Payload.Text))
		image["i:payload"] = image.with("i:payload", "B", item.Payload.Sum[:])["i:payload"]
		records = append(records, expiry(i+1, image))
	}
	held := &heldBytes{Objects: w.Engine.S3(), Archive: w.streams.Archive}
	c := w.StoreConfig(w.plan)
	c.Objects = held
	st, err := store.New(c)
	must.Succeed(t, err)
	w.restart(st)
	w.streams.Archive = held
	w.expect(batch(records...), done)
	must.Equal(t, w.counted[0].Archived, len(sizes))
	must.Equal(t, len(w.archived()), len(sizes))
	if held.most > 13*mb || held.most < 9*mb-200 {
		t.Errorf("%d bytes of payloads at once", held.most)
	}
}

// heldBytes counts the payloads that were read and not yet archived.
type heldBytes struct {
	payloads.Objects
	Archive interface {
		Put(ctx context.Context, name, body string) error
	}
	mu        sync.Mutex
	now, most int
}

func (h *heldBytes) GetObject(ctx context.Context, in *s3.GetObjectInput, o ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	out, err := h.Objects.GetObject(ctx, in, o...)
	if err == nil {
		out.Body = &heldBody{out.Body, h}
	}
	return out, err
}

type heldBody struct {
	io.ReadCloser
	held *heldBytes
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.held.mu.Lock()
	defer b.held.mu.Unlock()
	b.held.now += n
	b.held.most = max(b.held.most, b.held.now)
	return n, err
}

func (h *heldBytes) Put(ctx context.Context, name, body string) error {
	time.Sleep(time.Millisecond) // long enough for others to come in between
	err := h.Archive.Put(ctx, name, body)
	var image struct{ Data struct{ S string } }
	if e := json.Unmarshal([]byte(body), &image); e != nil {
		return e
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now -= len(image.Data.S)
	return err
}
