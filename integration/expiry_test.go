package integration

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/store/query"
)

// TestTimeToLive shows that the items of both tables expire by their expiresAt. What time to live
// removes is archived, and leaves the totals as each total declares. What a person removes is
// subtracted from every total and not archived.
//
// The engine sweeps when its clock is moved. LocalStack does not sweep. There the test ends the
// time of the items by hand, and deletes them.
func TestTimeToLive(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			t.Run(counting.String(), func(t *testing.T) {
				if b.engine != nil {
					b = embeddedBackend() // it has its own clock, because it jumps
				}
				timeToLive(newWorld(t, b, counting))
			})
		}
	})
}

func timeToLive(w *world) {
	for _, table := range []string{w.events, w.totals} {
		out, err := w.db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
		must.Succeed(w, err)
		if d := out.TimeToLiveDescription; d.TimeToLiveStatus != types.TimeToLiveStatusEnabled ||
			aws.ToString(d.AttributeName) != "expiresAt" {
			w.Errorf("time to live of %s: %s by %q", table, d.TimeToLiveStatus, aws.ToString(d.AttributeName))
		}
	}
	mapping := w.mapping(w.backend.streams)
	w.send(order("m0", "o1", 100, began), order("m0", "o2", 30, began), order("m0", "later", 7, began.Add(200*day)),
		parcel("p1", 1, 5, began.Add(200*day)))
	w.consume()
	w.drain(mapping, 4)
	w.live("live", "orders 3 revenue 137")

	// A person removes one item. This is a correction, which every total takes.
	w.remove("MERCHANT#m0", "ORDER#later")
	w.drain(mapping, 1)
	w.live("live", "orders 2 revenue 130")
	if w.counted.Archived != 0 {
		w.Errorf("%d objects archived of what a person removed", w.counted.Archived)
	}

	items := w.items()
	if w.engine != nil {
		w.jump(90*day - 2*time.Hour)
		w.drain(mapping, 0) // and here verify still sees all of it
		w.jump(day + 2*time.Hour)
		want := 2
		if w.counting == aggregate.Receipts {
			want += 5 // receipts of four inserts and a removal
		}
		if n := w.engine.SweepExpired(); n != want {
			w.Fatalf("%d items swept, want %d", n, want)
		}
	} else {
		w.expire(items["ORDER#o1"])
		w.expire(items["ORDER#o2"])
	}
	report := w.drain(mapping, 2)
	// A total cannot take back its largest value. So the window from which a person removed an item
	// is flagged, and the other window is not.
	if report.Items != 1 || len(report.Flagged) != 1 || !strings.Contains(report.Flagged[0], "m0 at 2099-09-17") {
		w.Errorf("verify saw %d items; flagged %v", report.Items, report.Flagged)
	}
	w.live("live", "orders 0 revenue 0")
	totals, err := query.Of(w.store).Total(ctx, "daily", map[string]string{"merchant": "m0"}, began.Add(-day), began.Add(day))
	if err != nil || len(totals) != 1 {
		w.Fatalf("%d totals, %v", len(totals), err)
	}
	// In their own time, events leave such a total as it is. Before that, they close it.
	closed := totals[0].FP
	if w.engine != nil {
		closed = event.Decimal{}
	}
	if kept := totals[0]; kept.Values["orders"].String() != "2" || kept.Values["revenue"].String() != "130" || kept.FPX.Cmp(closed) != 0 {
		w.Errorf("the kept total is %v, fingerprint %s, of which expired %s", kept.Values, kept.FP, kept.FPX)
	}
	w.archived(items["ORDER#o1"], items["ORDER#o2"])

	// Everything is delivered once more from the first record on. Nothing is taken twice, and the
	// same objects are put again.
	again := 4 + 3 + 2
	if w.engine != nil {
		again = 2 // only those of the last day
	}
	w.drain(w.mapping(w.backend.streams), again)
	w.live("live", "orders 0 revenue 0")
	w.archived(items["ORDER#o1"], items["ORDER#o2"])
}

func (w *world) remove(pk, sk string) {
	w.Helper()
	_, err := w.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.events, Key: testworld.Key(pk, sk)})
	must.Succeed(w, err)
}

// expire ends an item's time and removes it. Nothing in the stream says that time to live did it.
func (w *world) expire(item *event.Item) {
	w.Helper()
	item.ExpiresAt = w.now().Add(-time.Minute).Unix()
	_, err := w.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &w.events, UpdateExpression: aws.String("SET expiresAt = :now"),
		Key: testworld.Key(item.Key.PK, item.Key.SK),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": &types.AttributeValueMemberN{Value: fmt.Sprint(
			item.ExpiresAt)}}})
	must.Succeed(w, err)
	w.remove(item.Key.PK, item.Key.SK)
}

// items returns the stored items by sort key.
func (w *world) items() map[string]*event.Item {
	w.Helper()
	all := map[string]*event.Item{}
	for item, err := range w.store.Items(ctx) {
		must.Succeed(w, err)
		if want := item.At.Add(90 * day).Unix(); item.ExpiresAt != want {
			w.Errorf("%s expires at %d, want %d", item.Key, item.ExpiresAt, want)
		}
		all[item.Key.SK] = item
	}
	return all
}

// archived asserts that the bucket holds one object for each of the items, and no other.
func (w *world) archived(items ...*event.Item) {
	w.Helper()
	list, err := w.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &w.bucket})
	must.Succeed(w, err)
	if len(list.Contents) != len(items) {
		w.Errorf("%d objects in the archive, want %d", len(list.Contents), len(items))
	}
	for _, item := range items {
		name := archive.ObjectName(item)
		out, err := w.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &w.bucket, Key: &name})
		if err != nil {
			w.Errorf("object %s of %s: %v", name, item.Key, err)
			continue
		}
		body, err := io.ReadAll(out.Body)
		out.Body.Close()
		must.Succeed(w, err)
		for _, part := range []string{`"PK":{"S":"` + item.Key.PK + `"}`, `"epoch":{"N":"1"}`, `"expiresAt":{"N":"` +
			fmt.Sprint(item.ExpiresAt) + `"}`, `"data":{"S":"{\"type\":\"order\"`} {
			if !strings.Contains(string(body), part) {
				w.Errorf("object of %s lacks %s: %s", item.Key, part, body)
			}
		}
	}
}
