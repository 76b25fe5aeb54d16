package store_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// posts adds types whose payloads are offloaded: a post, a vote that moves a total with its put,
// and a thread and a digest with replies. The digest is stored together with them.
func posts(s *setup) {
	adds(&s.Spec, `
events:
  post: {id: "{id}", at: "{at}", key: {pk: "POST#{id}", sk: POST}, retain: 90d, offload: {over: 1KB}, ignore: [trace]}
  vote: {id: "{id}", at: "{at}", key: {pk: "VOTE#{id}", sk: VOTE}, retain: 90d, offload: {over: 1KB}}
  thread: {id: "{id}", at: "{at}", key: {pk: "THREAD#{id}", sk: thread}, retain: 90d, offload: {over: 1KB}}
  thread.reply:
    {part: {of: thread, each: replies, with: [id]}, id: "{id}#{n}", key: {pk: "THREAD#{id}", sk: "thread#{n}"},
     offload: {over: 1KB}}
  digest: {id: "{id}", at: "{at}", key: {pk: "THREAD#{id}", sk: digest}, retain: 90d, offload: {over: 1KB}, atomic: true}
  digest.reply:
    {part: {of: digest, each: replies, with: [id]}, id: "{id}#{n}", key: {pk: "THREAD#{id}", sk: "digest#{n}"},
     offload: {over: 1KB}}
aggregates:
  pages: {since: 1, from: {post: {values: {posts: count, pages: sum pages}}}}
  votes: {since: 1, movedBy: put, from: {vote: {values: {votes: count, pages: sum pages}}}}
`)
}

var lorem = strings.Repeat("lorem ipsum ", 330)

// post returns an event of 4 KB.
func (w *world) post(typ, id string, more ...string) *event.Item {
	w.t.Helper()
	return w.item(append([]string{fmt.Sprintf(`"type":%q`, typ), fmt.Sprintf(`"id":%q`, id), `"at":"2099-03-01T10:00:00Z"`, `"pages":7`,
		`"text":"` + lorem + `"`}, more...)...)
}

// thread returns a whole of 4 KB and more, with two replies of 4 KB.
func (w *world) thread(typ, id string) *event.Item {
	return w.post(typ, id, `"replies":[{"n":1,"text":"`+lorem+`"},{"n":2,"text":"`+lorem+`"}]`)
}

func objectOf(item *event.Item) string { return payloads.Name(item.Type, item.Key, item.Payload.Sum) }

// payload returns the text of an item's object, and false if there is none.
func (w *world) payload(item *event.Item) (string, bool) {
	w.t.Helper()
	out, err := w.Engine.S3().GetObject(context.Background(),
		&s3.GetObjectInput{Bucket: aws.String(stack.Payloads), Key: aws.String(objectOf(item))})
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(out.Body)
	must.Succeed(w.t, err)
	return string(text), true
}

func (w *world) loses(item *event.Item) {
	w.t.Helper()
	_, err := w.Engine.S3().DeleteObject(context.Background(),
		&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: aws.String(objectOf(item))})
	must.Succeed(w.t, err)
}

func (w *world) objects() int {
	w.t.Helper()
	out, err := w.Engine.S3().ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: aws.String(stack.Payloads)})
	must.Succeed(w.t, err)
	return len(out.Contents)
}

// calls notes the names of the requests from now on.
func (w *world) calls() *[]string {
	var mu sync.Mutex
	var list []string
	w.onCall = func(api string, _ any) error {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, api)
		return nil
	}
	return &list
}

// The payload is put before the item, in every delivery. The item costs what it keeps. What is said
// of an event depends on its payload alone.
func TestOffloadedPut(t *testing.T) {
	for what, n := range map[string]int{"alone": 1, "in a batch": 40} {
		w := newWorld(t, posts)
		var items, spelled, ignored, other events
		for i := range n {
			id := fmt.Sprintf(`"id":"%d"`, i)
			items, ignored = append(items, w.post("post", fmt.Sprint(i))), append(ignored, w.post("post", fmt.Sprint(i), `"trace":"b"`))
			spelled = append(spelled, w.item(`"text":"`+strings.ReplaceAll(lorem, " ", "\\u0020")+`"`, `"type":"post"`, id,
				`"at":"2099-03-01T10:00:00Z"`, `"pages":7.0`))
			other = append(other, w.item(`"type":"post"`, id, `"at":"2099-03-01T10:00:00Z"`, `"pages":7`))
		}
		all := func(step string, items events, want event.Verdict) []tables.Result {
			t.Helper()
			calls := w.calls()
			results, cost := w.arrive(items...)
			w.onCall = nil
			for _, r := range results {
				if r.Verdict != want {
					t.Fatalf("%s, %s: %s, want %s: %v", what, step, r.Verdict, want, r.Refusal)
				}
			}
			uploads, reads, large := 0, 0, 0
			for i, api := range *calls {
				switch {
				case api == "PutObject" && i != uploads:
					t.Errorf("%s, %s: a payload is put after another request: %v", what, step, *calls)
				case api == "PutObject":
					uploads++
				case api == "GetObject":
					reads++
				}
			}
			for _, item := range items {
				if item.Payload != nil {
					large++
				}
			}
			if uploads != large || cost.Objects != uploads+reads || (reads == n) != (want == event.Conflict) {
				t.Errorf("%s, %s: %d payloads are put and %d read, %d in the accounts", what, step, uploads, reads, cost.Objects)
			}
			if step == "new" && cost.WriteUnits != float64(n) {
				t.Errorf("%s: %d items of 4 KB cost %v units, want one each", what, n, cost.WriteUnits)
			}
			return results
		}
		all("new", items, event.Inserted)
		for _, item := range items {
			if text, there := w.payload(item); !there || text != item.Payload.Text {
				t.Fatalf("%s: the object of %s is %q", what, item.Key, text)
			}
			if read, err := w.store.Item(deadline(t), item.Key); err != nil || read.Data != item.Data || read.Payload == nil ||
				read.Payload.Sum != item.Payload.Sum || read.Size() != item.Size() {
				t.Fatalf("%s: it is read as %+v, %v", what, read, err)
			}
		}
		all("again", items, event.Duplicate)
		all("in another spelling", spelled, event.Duplicate)
		all("with what is ignored", ignored, event.Duplicate)
		if other[0].Data != items[0].Data {
			t.Fatalf("the other one is %s, and not what the item keeps: %s", other[0].Data, items[0].Data)
		}
		for _, r := range all("what is kept", other, event.Conflict) {
			if !strings.Contains(r.Refusal.Detail, "they differ in text)") || r.Refusal.Reason != event.DigestDiffers {
				t.Fatalf("%s: %v", what, r.Refusal)
			}
		}
	}
}

// A payload is put once for all its copies.
func TestPayloadOfCopies(t *testing.T) {
	w := newWorld(t, posts)
	var items events
	for i := range 30 {
		items = append(items, w.post("post", fmt.Sprint(i%20)))
	}
	results, cost := w.arrive(items...)
	if cost.Objects != 20 || w.objects() != 20 || strings.Count(verdicts(results), "Inserted") != 20 {
		t.Errorf("%d payloads are put of 20: %s", cost.Objects, verdicts(results))
	}
}

// Before a Conflict is declared, the payload is read, because today's ignore may say that it is the
// same. If its object is gone, the stored digest decides. If it cannot be read, nothing does.
func TestJudgedByTheStoredPayload(t *testing.T) {
	for _, typ := range []string{"post", "vote", "digest"} {
		w := newWorld(t, posts)
		const reply = `"replies":[{"n":1}]`
		stored, copied, other := w.post(typ, "1", reply, `"shade":1`), w.post(typ, "1", reply, `"shade":2`),
			w.post(typ, "1", reply, `"shade":1`, `"ink":1`)
		w.keep(stored)
		today := w.changed(ofType(typ, func(e *pipeline.EventSpec) { e.Ignore = []string{"shade"} }))
		judge := func(step string, item *event.Item, want event.Verdict, detail string) {
			t.Helper()
			item = w.itemOf(today.Config().Pipeline, strings.TrimSuffix(strings.TrimPrefix(item.Text(), "{"), "}"))
			if r, _, err := repair.Of(today).Judge(context.Background(), item); err == nil && r.Verdict != want || err != nil &&
				want != event.Retry {
				t.Errorf("%s, %s: judged %s, want %s, %v", typ, step, r.Verdict, want, err)
			}
			results, _ := today.Put(context.Background(), events{item})
			if r := results[0]; r.Verdict != want || r.Refusal != nil && !strings.Contains(r.Refusal.Error(), detail) {
				t.Errorf("%s, %s: %s, want %s: %v", typ, step, r.Verdict, want, r.Refusal)
			}
		}
		judge("ignored since", copied, event.Duplicate, "")
		judge("another", other, event.Conflict, "they differ in ink)")
		w.keepsFailing("GetObject", errLost)
		judge("no answer", copied, event.Retry, "payload-unread")
		w.faults = nil
		w.loses(stored)
		judge("gone", copied, event.Conflict, "does not have the stored payload any more")
		kept := *stored
		kept.Payload = nil
		judge("gone, and it is what is kept", &kept, event.Conflict, "does not have the stored payload any more")
	}
}

// Two payloads that are large together are judged, and not compared: that takes many times their
// size.
func TestLargePayloadsAreNotCompared(t *testing.T) {
	for _, c := range []struct {
		bytes int
		want  string
	}{
		{1 << 19, "they differ in ink)"},
		{1<<20 + 1, "together they have more than 2 MiB, so their members are not compared)"},
	} {
		w := newWorld(t, posts)
		fill := `"fill":"` + strings.Repeat("x", c.bytes) + `"`
		results, _ := w.arrive(w.post("post", "1", fill), w.post("post", "1", fill),
			w.post("post", "1", fill, `"ink":1`))
		if got := verdicts(results); got != "Inserted Duplicate Conflict" || !strings.Contains(results[2].Refusal.Detail, c.want) {
			t.Errorf("%d bytes: %s, %v", c.bytes, got, results[2].Refusal)
		}
		results, _ = w.arrive(w.post("post", "1", fill, `"trace":1`), w.post("post", "1", fill, `"ink":1`))
		if got := verdicts(results); got != "Duplicate Conflict" || !strings.Contains(results[1].Refusal.Detail, c.want) {
			t.Errorf("%d bytes, again: %s, %v", c.bytes, got, results[1].Refusal)
		}
	}
}

// A stored payload that comes when the time is over is not judged any more: that may take longer
// than the time that is left for the answer.
func TestStoredPayloadComesTooLate(t *testing.T) {
	for _, typ := range []string{"post", "digest"} {
		w := newWorld(t, posts)
		w.keep(w.post(typ, "1", `"replies":[]`))
		ctx, end := context.WithCancel(context.Background())
		w.faults = []fault{{API: "GetObject", Always: true, Edit: func(any) { end() }}}
		results, cost := w.store.Put(ctx, events{w.post(typ, "1", `"replies":[]`, `"ink":1`)})
		if r := results[0]; r.Verdict != event.Retry || r.Refusal.Reason != event.PayloadUnread || cost.Objects != 2 || ctx.Err() == nil {
			t.Errorf("%s: %s, %v, %d objects", typ, r.Verdict, r.Refusal, cost.Objects)
		}
	}
}

// No item is ever without its object, whatever happens to any request. The next delivery stores
// what is missing.
func TestEveryFaultOfOffloadedPuts(t *testing.T) {
	const most = 25 // more requests than any of them takes
	all := []string{"PutObject", "PutItem", "BatchExecuteStatement", "BatchGetItem", "TransactWriteItems", "GetItem", "GetObject"}
	for name, items := range map[string]func(w *world) events{
		"one": func(w *world) events { return events{w.post("post", "1")} },
		"copies": func(w *world) events {
			return events{w.post("post", "1"), w.post("post", "1", `"trace":1`)}
		},
		"some": func(w *world) events {
			return events{w.post("post", "1"), w.order("2", 1), w.post("post", "3"), w.post("post", "4"), w.order("5", 1)}
		},
		"moving totals":     func(w *world) events { return events{w.post("vote", "1"), w.post("vote", "2")} },
		"parts in turn":     func(w *world) events { return events{w.thread("thread", "1")} },
		"parts in one step": func(w *world) events { return events{w.thread("digest", "1"), w.order("5", 1)} },
	} {
		for n := range most {
			reached := false
			for what, f := range map[string]fault{"lost before": {Before: errLost}, "lost after": {After: errLost},
				"no more before": {Before: errLost, Always: true},
				"no more after":  {After: errLost, Always: true}, "denied": {Before: errDenied, Always: true}} {
				what = fmt.Sprintf("%s, %s at request %d", name, what, n)
				w := newWorld(t, posts)
				given, calls := items(w), 0
				w.onCall = func(api string, _ any) error {
					w.mu.Lock()
					defer w.mu.Unlock()
					if calls++; calls != n+1 {
						return nil
					}
					reached = true
					if f.API = api; !f.Always {
						w.faults = append(w.faults, f)
						return nil
					}
					for _, one := range all {
						f.API = one
						w.faults = append(w.faults, f)
					}
					return nil
				}
				results, _ := w.store.Put(context.Background(), given)
				w.onCall, w.faults = nil, nil
				w.complete(what, given, results)
				again, _ := w.store.Put(context.Background(), given)
				for i := range given {
					if r := results[i]; r.Verdict != event.Retry && !r.Verdict.Stored() {
						t.Errorf("%s: item %d is %s: %v", what, i, r.Verdict, r.Refusal)
					}
					if r := again[i]; !r.Verdict.Stored() {
						t.Errorf("%s: item %d is %s when it comes again: %v", what, i, r.Verdict, r.Refusal)
					}
				}
				w.complete(what+", again", given, again)
			}
			if !reached {
				break
			}
			if n == most-1 {
				t.Errorf("%s: it takes more than %d requests", name, most)
			}
		}
	}
}

// complete fails if an item is stored without its object, or if a message is said to be stored and
// is not.
func (w *world) complete(what string, given events, results []tables.Result) {
	w.t.Helper()
	for i, item := range given {
		all := events{item}
		if item.Parts != nil {
			all = append(all, item.Parts.Items...)
		}
		for _, one := range all {
			read, err := w.store.Item(context.Background(), one.Key)
			must.Succeed(w.t, err)
			if read == nil && results[i].Verdict.Stored() {
				w.t.Errorf("%s: %s is %s, and not there", what, one.Key, results[i].Verdict)
			}
			if read == nil || read.Payload == nil {
				continue
			}
			stored := *one
			stored.Payload = read.Payload
			if _, there := w.payload(&stored); !there {
				w.t.Errorf("%s: %s has no object", what, one.Key)
			}
		}
	}
}

// If the key was erased, the payload does not stay in the bucket. If that is not proven, the
// message comes again.
func TestPayloadOfAnErasedEvent(t *testing.T) {
	for _, typ := range []string{"post", "vote", "thread", "digest"} {
		w := newWorld(t, posts)
		item := w.thread(typ, "1")
		w.keep(item)
		_, err := w.erase(item.Key)
		must.Succeed(t, err)
		w.keepsFailing("DeleteObject", errLost)
		if results, _ := w.store.Put(context.Background(), events{item}); verdicts(results) != "Retry" ||
			results[0].Refusal.Reason != event.PayloadUnstored {
			t.Errorf("%s: not taken back: %v", typ, results[0])
		}
		w.faults = nil
		must.Equal(t, told(w.putNow(item)), "Duplicate barred", typ)
		must.Equal(t, w.objects(), 0, typ)
	}
}

// A part may have been erased alone. Its payload does not come back with a message that is refused,
// even though all payloads of an atomic message are put before its items.
func TestPayloadOfAnErasedPart(t *testing.T) {
	for _, typ := range []string{"thread", "digest"} {
		w := newWorld(t, posts)
		item := w.thread(typ, "1")
		w.arrive(item)
		part := item.Parts.Items[0]
		_, err := w.erase(part.Key)
		must.Succeed(t, err)
		for what, again := range map[string]*event.Item{"the same": item,
			"another payload": w.post(typ, "1", `"more":1`, `"replies":[{"n":1,"text":"`+lorem+`"},{"n":2,"text":"`+lorem+`"}]`)} {
			if typ == "digest" && again != item { // whether a part is barred has to be read
				w.keepsFailing("BatchGetItem", errLost)
				if results, _ := w.store.Put(context.Background(), events{again}); verdicts(results) != "Retry" ||
					results[0].Refusal.Key != item.Key {
					t.Errorf("the key of the part could not be read: %v", results[0])
				}
				w.faults = nil
			}
			results, _ := w.arrive(again)
			if want := map[bool]string{true: "Duplicate", false: "Conflict"}[again == item]; results[0].Verdict.String() != want {
				t.Errorf("%s, %s: %v, want %s", typ, what, results[0], want)
			}
			if _, there := w.payload(part); there {
				t.Errorf("%s, %s: %v, and the payload of the erased part is in the bucket again", typ, what, results[0].Verdict)
			}
		}
	}
}

// An erasure that stops after the key is barred is finished by the next one, even if the type has
// lost its offload since the event was stored: the bar does not say of which type the event was.
func TestEraseIsFinishedWithoutOffload(t *testing.T) {
	for _, typ := range []string{"post", "thread", "digest"} {
		w := newWorld(t, posts)
		item := w.thread(typ, "1")
		w.arrive(item)
		s := w.changed(inside)
		w.keepsFailing("ListObjectsV2", errLost)
		if _, err := repair.Of(s).Erase(context.Background(), item.Key); err == nil { // bounded by rounds
			t.Fatalf("%s: erased without the bucket", typ)
		}
		w.faults = nil
		if _, err := repair.Of(s).Erase(deadline(t), item.Key); err != nil || w.objects() != 0 {
			t.Errorf("%s: %v, and %d objects are left", typ, err, w.objects())
		}
	}
}

// A bucket that is configured and was never made holds no payloads, as long as no type has offload.
func TestEraseWithoutABucket(t *testing.T) {
	w := newWorld(t, posts)
	item := w.post("post", "1")
	w.arrive(item)
	for _, offload := range []bool{false, true} {
		c := w.store.Config()
		if !offload {
			c = w.changed(inside).Config()
		}
		c.PayloadBucket = "never-made"
		s := w.open(c)
		order := w.order("1", 1)
		w.arrive(order)
		for range 2 {
			if _, err := repair.Of(s).Erase(deadline(t), order.Key); (err != nil) != offload {
				t.Errorf("offload %v: %v", offload, err)
			}
		}
		w.faults = []fault{{API: "ListObjectsV2", Before: coded("AccessDenied"), Always: true}}
		if _, err := repair.Of(s).Erase(context.Background(), order.Key); err == nil { // nobody knows whether there is a bucket
			t.Errorf("offload %v, denied: no error", offload)
		}
		w.faults = nil
	}
}

// Parts that are declared later may need what an offloaded whole did not keep. MissingParts reads
// no bucket, so it does not know them. PutParts does.
func TestLaterPartsOfAnOffloadedWhole(t *testing.T) {
	w := newWorld(t, posts)
	w.arrive(w.post("post", "1", `"tags":[{"n":1}]`))
	s := w.changed(tagged)
	must.Succeed(t, s.Start(deadline(t)))
	whole, err := s.Item(deadline(t), under("POST#1", "POST"))
	must.Succeed(t, err)
	if missing, _, err := repair.Of(s).MissingParts(deadline(t), events{whole}); err != nil || len(missing) != 0 {
		t.Errorf("%d are missing, %v", len(missing), err)
	}
	if p, err := repair.Of(s).PutParts(deadline(t)); err != nil || p.Missing != 1 || p.Put != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// What is not put has no object: an event that is too late, or too far ahead. Without offload, an
// event may be as far ahead as before.
func TestNoObjectOfWhatIsNotPut(t *testing.T) {
	w := newWorld(t, posts)
	at := func(typ string, at time.Time) *event.Item {
		return w.item(`"type":"`+typ+`"`, `"id":"1"`, `"at":"`+at.Format(time.RFC3339)+`"`, `"pages":1`, `"merchant":"m"`, `"cents":1`,
			`"replies":[{"n":1,"text":"`+lorem+`"}]`)
	}
	late, ahead := epoch.Add(-90*24*time.Hour+tables.ExpiryMargin/2), epoch.Add(tables.MaxAhead+time.Second)
	for _, typ := range []string{"post", "vote", "thread", "digest"} {
		results, cost := w.arrive(at(typ, late))
		if verdicts(results) != "Expired" || cost.Objects != 0 || w.objects() != 0 {
			t.Errorf("%s, too late: %v, %d requests to S3", typ, results[0].Refusal, cost.Objects)
		}
		item := at(typ, ahead)
		if judged, stored, err := w.repair().Judge(deadline(t), item); err != nil || stored != nil ||
			judged.Verdict != event.Poison || judged.Refusal.Reason != event.TooFarAhead || judged.Refusal.Type != typ {
			t.Errorf("%s: Judge says %+v, %v", typ, judged, err)
		}
		results, cost = w.arrive(item, w.order("9", 1))
		if !strings.HasPrefix(verdicts(results), "Poison ") || !results[1].Verdict.Stored() ||
			results[0].Refusal.Reason != event.TooFarAhead || cost.Objects != 0 || w.objects() != 0 {
			t.Errorf("%s, too far ahead: %s, %v", typ, verdicts(results), results[0].Refusal)
		}
		if read, err := w.store.Item(deadline(t), item.Key); read != nil || err != nil {
			t.Errorf("%s: it is stored, %v", typ, err)
		}
	}
	if results, _ := w.arrive(at("order", ahead.Add(1000*time.Hour)), at("post", ahead.Add(-time.Second))); verdicts(
		results) != "Inserted Inserted" {
		t.Errorf("%s", verdicts(results))
	}
}

// The clock of a machine may be set back. An event that was too late to be put may then be put
// after all, and its payload is in the bucket even then.
func TestClockIsSetBack(t *testing.T) {
	for _, typ := range []string{"post", "vote", "thread", "digest"} {
		w := newWorld(t, posts)
		border := epoch.Add(-90*24*time.Hour + tables.ExpiryMargin)
		body := []string{`"type":"` + typ + `"`, `"id":"1"`, `"at":"` + border.Format(time.RFC3339) + `"`, `"pages":1`, `"text":"` + lorem +
			`"`, `"replies":[]`}
		other := w.post("post", "2") // it has the clock read, and then set back
		w.onCall = func(api string, _ any) error {
			if api == "PutObject" {
				w.Clock.Set(epoch.Add(-30 * time.Second))
			}
			return nil
		}
		item := w.item(body...)
		results, _ := w.arrive(item, other)
		w.onCall = nil
		must.Equal(t, verdicts(results), "Inserted Inserted", typ)
		w.complete(typ, events{item, other}, results)
	}
}

// A store without a bucket stores nothing without its payload.
func TestNoBucket(t *testing.T) {
	w := newWorld(t, posts)
	s := w.open(tables.Config{
		Env: w.Env})
	results, _ := s.Put(deadline(t), events{w.post("post", "1"), w.order("2", 1)})
	if verdicts(results) != "Retry Inserted" ||
		!strings.Contains(results[0].Refusal.Detail, "no payload bucket is configured; set INGOT_PAYLOAD_BUCKET") {
		t.Errorf("%s: %v", verdicts(results), results[0].Refusal)
	}
}

// PutParts puts the payload of a part before the part.
func TestMissingPartsAreOffloaded(t *testing.T) {
	for _, typ := range []string{"thread", "digest"} {
		w := newWorld(t, posts)
		w.start()
		item := w.thread(typ, "1")
		w.arrive(item)
		for _, part := range item.Parts.Items {
			w.removes(part.Key)
			w.loses(part)
		}
		w.keepsFailing("PutObject", errLost)
		if p, err := w.repair().PutParts(context.Background()); err != nil || p.Missing != 2 || p.Put != 0 || len(p.Refused) != 2 {
			t.Errorf("%s: %+v, %v", typ, p, err)
		}
		w.faults = nil
		if p, err := w.repair().PutParts(deadline(t)); err != nil || p.Missing != 2 || p.Put != 2 {
			t.Errorf("%s: %+v, %v", typ, p, err)
		}
		for _, part := range item.Parts.Items {
			if text, there := w.payload(part); !there || text != part.Payload.Text {
				t.Errorf("%s: %s has no object", typ, part.Key)
			}
		}
	}
}

// PutParts does not put a part whose payload would be gone before it expires, as Put does not. The
// part is named, and can be put later.
func TestMissingPartsTooFarAhead(t *testing.T) {
	w := newWorld(t, posts, func(s *setup) {
		for _, name := range []string{"thread", "digest"} { // the payload of the whole stays in the item
			whole := s.Events[name]
			whole.Offload = pipeline.OffloadSpec{}
			s.Events[name] = whole
		}
	})
	w.start()
	for _, name := range []string{"thread", "digest"} {
		whole := w.item(fmt.Sprintf(`"type":%q,"id":%q,"at":"2099-05-01T10:00:00Z"`, name, name), `"replies":[{"n":1,"text":"`+lorem+
			`"},{"n":2}]`)
		w.keep(without(whole, none))
	}
	p, err := w.repair().PutParts(deadline(t))
	if err != nil || p.Missing != 4 || p.Put != 2 || len(p.Refused) != 2 || p.Refused[0].Reason != event.TooFarAhead || w.objects() != 0 {
		t.Errorf("%+v, %v, and %d objects", p, err, w.objects())
	}
	w.Clock.Set(must.Time("2099-04-02T00:00:00Z"))
	if p, err := w.repair().PutParts(deadline(t)); err != nil || p.Missing != 2 || p.Put != 2 || w.objects() != 2 {
		t.Errorf("a month later: %+v, %v, and %d objects", p, err, w.objects())
	}
}
