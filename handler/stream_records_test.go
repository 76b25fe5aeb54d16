package handler_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

const streamARN = "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/2099"

// attributes is an image as the stream sends it.
type attributes map[string]map[string]any

// image returns the stored item of the event in body.
func (w *world) image(body string) attributes {
	w.t.Helper()
	item, err := w.plan.Plan(envelope.Message{Body: body})
	must.Succeed(w.t, err)
	s, err := store.New(tables.Config{Client: w.Engine.DynamoDB(), Pipeline: w.plan, Events: "images", Objects: w.Engine.S3(),
		PayloadBucket: stack.Payloads, Env: env.Env{Now: w.Clock.Now}})
	must.Succeed(w.t, err)
	_, _ = stack.Table{Name: "images"}.Create(context.Background(),
		w.Engine.DynamoDB()) // creates it the first time; later it exists already
	key := testworld.Key(item.Key.PK, item.Key.SK)
	w.Delete(w.t, "images", key)
	if results, _ := s.Put(context.Background(), []*event.Item{item}); results[0].Verdict != event.Inserted {
		w.t.Fatalf("%+v", results[0])
	}
	img := attributes{}
	for name, v := range w.Get(w.t, "images", key) {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			img[name] = map[string]any{"S": v.Value}
		case *types.AttributeValueMemberN:
			img[name] = map[string]any{"N": v.Value}
		case *types.AttributeValueMemberB:
			img[name] = map[string]any{"B": base64.StdEncoding.EncodeToString(v.Value)}
		default:
			w.t.Fatalf("attribute %s is a %T", name, v)
		}
	}
	return img
}

// with returns the image with one attribute changed.
func (a attributes) with(name, kind string, value any) attributes {
	out := maps.Clone(a)
	if delete(out, name); kind != "" {
		out[name] = map[string]any{kind: value}
	}
	return out
}

// record returns one stream record. n is its sequence number.
func record(n int, kind event.ChangeKind, old, new attributes) map[string]any {
	keys := attributes{}
	for _, img := range []attributes{old, new} {
		if img != nil {
			keys = attributes{"PK": img["PK"], "SK": img["SK"]}
		}
	}
	change := map[string]any{"ApproximateCreationDateTime": float64(epoch.Unix()), "Keys": keys, "SequenceNumber": sequence(n),
		"SizeBytes": 100, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	if old != nil {
		change["OldImage"] = old
	}
	if new != nil {
		change["NewImage"] = new
	}
	return map[string]any{"eventID": fmt.Sprint(n), "eventName": kind.String(), "eventVersion": "1.1", "eventSource": "aws:dynamodb",
		"awsRegion": "us-east-1", "dynamodb": change, "eventSourceARN": streamARN}
}

func sequence(n int) string { return fmt.Sprintf("%021d", n) }

func insert(n int, img attributes) map[string]any { return record(n, event.Insert, nil, img) }

// changed returns the record of an item that is written again, and removed that of one that a
// person removes.
func changed(n int, old, new attributes) map[string]any { return record(n, event.Modify, old, new) }

func removed(n int, img attributes) map[string]any { return record(n, event.Remove, img, nil) }

// inserted returns the insert of an order.
func (w *world) inserted(n int, id string, cents int) map[string]any {
	w.t.Helper()
	return insert(n, w.image(order(id, cents)))
}

// expiry returns the removal of an item whose time is over, as the stream of a global table's
// replica sends it. Nothing says who removed it.
func expiry(n int, img attributes) map[string]any {
	return record(n, event.Remove, img.with("expiresAt", "N", fmt.Sprint(epoch.Unix())), nil)
}

// batch returns what Lambda sends for a mapping with a tumbling window.
func batch(records ...map[string]any) map[string]any {
	if records == nil {
		records = []map[string]any{}
	}
	return map[string]any{"Records": records, "shardId": "shardId-1", "eventSourceARN": streamARN, "state": map[string]any{},
		"window": map[string]string{"start": "2099-03-01T12:00:00Z", "end": "2099-03-01T12:15:00Z"}, "isFinalInvokeForWindow": false,
		"isWindowTerminatedEarly": false}
}

// plain returns what Lambda sends for a mapping without a window.
func plain(records ...map[string]any) map[string]any {
	return map[string]any{"Records": batch(records...)["Records"]}
}

const done = `{"batchItemFailures":[],"state":{}}`

func from(n int) string {
	return `{"batchItemFailures":[{"itemIdentifier":"` + sequence(n) + `"}],"state":{}}`
}

// deliver passes a batch to the streams function as Lambda does.
func (w *world) deliver(e any) (string, error) {
	w.t.Helper()
	answer, err := lambda.NewHandler(w.streams.Handle).Invoke(iam.As(deadline(w.t), w.StreamsRole), marshal(w.t, e))
	return strings.TrimSpace(string(answer)), err
}

func (w *world) expect(e any, want string) {
	w.t.Helper()
	if got, err := w.deliver(e); err != nil || got != want {
		w.t.Errorf("answer %s %v, want %s", got, err, want)
	}
}

// fails delivers what fails as a whole, with an error that has all of the words. It returns the
// error's text.
func (w *world) fails(e any, words ...string) string {
	w.t.Helper()
	_, err := w.deliver(e)
	must.Fail(w.t, err, words...)
	return fmt.Sprint(err)
}

// failAt makes the hook refuse the change of record n.
func (w *world) failAt(n int) {
	w.streams.OnChange = func(_ context.Context, c event.Change) error {
		if c.Sequence.String() == sequence(n) {
			return errLost
		}
		return nil
	}
}

// started returns a world whose streams function has started.
func (w *world) started() *world {
	w.t.Helper()
	must.Succeed(w.t, w.streams.Start(iam.As(deadline(w.t), w.StreamsRole)))
	return w
}

// total reads the only total of an aggregate without by and window.
func (w *world) total(name string) query.Total {
	w.t.Helper()
	totals, err := query.Of(w.store).Total(context.Background(), name, nil, epoch, epoch)
	if err != nil || len(totals) > 1 {
		w.t.Fatalf("%d totals: %v", len(totals), err)
	}
	if len(totals) == 0 {
		return query.Total{}
	}
	return totals[0]
}

func (w *world) sums(t interface{ Errorf(string, ...any) }, name, orders, revenue string) {
	got := w.total(name)
	if got.Values["orders"].String() != orders || got.Values["revenue"].String() != revenue {
		t.Errorf("%s: %s orders and %s revenue, want %s and %s", name, got.Values["orders"], got.Values["revenue"], orders, revenue)
	}
}

func (w *world) head(name string) *tables.Head {
	w.t.Helper()
	def, _ := w.plan.Definition(name)
	h, err := w.store.Head(context.Background(), def)
	if err != nil || h == nil {
		w.t.Fatalf("head of %s: %v %v", name, h, err)
	}
	return h
}

// archived returns the objects of the archive by name.
func (w *world) archived() map[string]string {
	w.t.Helper()
	list, err := w.Engine.S3().ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: aws.String("archive")})
	must.Succeed(w.t, err)
	objects := map[string]string{}
	for _, o := range list.Contents {
		out, err := w.Engine.S3().GetObject(context.Background(), &s3.GetObjectInput{Bucket: aws.String("archive"), Key: o.Key})
		must.Succeed(w.t, err)
		text, err := io.ReadAll(out.Body)
		must.Succeed(w.t, err)
		objects[*o.Key] = string(text)
	}
	return objects
}

func counting(c aggregate.Counting) func(*setup) { return func(s *setup) { s.counting = c } }

var bothWays = []aggregate.Counting{aggregate.Marks, aggregate.Receipts}

// bothWorlds yields a world for each way of counting. Its streams function has started.
func bothWorlds(t testing.TB, options ...func(*setup)) iter.Seq2[*world, aggregate.Counting] {
	return func(yield func(*world, aggregate.Counting) bool) {
		for _, c := range bothWays {
			if !yield(newWorld(t, append(options, counting(c))...).started(), c) {
				return
			}
		}
	}
}
