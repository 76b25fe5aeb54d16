package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// postsOfTwo is the pipeline of posts at its second epoch: a new aggregate uses a field that the
// items of the first epoch have not kept.
func (w *world) postsOfTwo() *pipeline.Pipeline {
	s := &setup{Spec: orders()}
	posts(s)
	s.Epoch = 2
	adds(&s.Spec, `aggregates: {likes: {since: 2, by: {topic: "{about.topic}"}, from: {post: {values: {likes: sum likes}}}}}`)
	return w.compile(s.Spec)
}

// liked returns a post with what the aggregate of the second epoch uses.
func (w *world) liked(id string, likes int) *event.Item {
	w.t.Helper()
	return w.post("post", id, fmt.Sprintf(`"likes" : %d.50`, likes), `"about":{"topic":"go","x":1}`)
}

// touching returns a store of the second epoch whose streams function has started.
func (w *world) touching() *store.Store {
	w.t.Helper()
	must.Succeed(w.t, w.store.Start(deadline(w.t)))
	c := w.StoreConfig(w.postsOfTwo())
	st := w.open(c)
	must.Succeed(w.t, st.Start(deadline(w.t)))
	return st
}

// A payload is read whole, wherever it is. One that is gone is an error that says so, and where it
// should be.
func TestPayload(t *testing.T) {
	w := newWorld(t, posts)
	large, small := w.post("post", "1"), w.item(`"type":"post"`, `"id":"2"`, `"at":"2099-03-01T10:00:00Z"`, `"pages":7`)
	w.keep(large, small)
	for _, item := range []*event.Item{large, small} {
		read, err := w.store.Item(deadline(t), item.Key)
		if err != nil || (read.Text() == "") != (item == large) {
			t.Fatalf("%+v, %v", read, err)
		}
		if text, err := w.store.Payload(deadline(t), read); err != nil || text != item.Text() {
			t.Errorf("%s: %q, %v", item.Key, text, err)
		}
	}
	w.loses(large)
	read, err := w.store.Item(deadline(t), large.Key)
	must.Succeed(t, err)
	if _, err := w.store.Payload(deadline(t), read); !errors.Is(err, tables.ErrPayloadLost) ||
		!strings.Contains(err.Error(), objectOf(large)) || strings.Contains(err.Error(), "POST#1") {
		t.Errorf("%v", err)
	}
	w.faults = []fault{{API: "GetObject", Before: &smithy.GenericAPIError{Code: "AccessDenied"}, Always: true}}
	if _, err := w.store.Payload(deadline(t), read); !awserr.Denied(err) || errors.Is(err, tables.ErrPayloadLost) {
		t.Errorf("%v", err)
	}
	c := w.StoreConfig(w.plan)
	c.Objects, c.PayloadBucket, c.Pipeline = nil, "", w.compile(orders())
	_, err = w.open(c).Payload(deadline(t), read)
	must.Fail(t, err, "Config.PayloadBucket")
}

// A touch pass brings into the item what a new generation uses of a payload that is elsewhere: in
// the same write as the stamp, and as if the event had come under the new pipeline.
func TestTouchReadsPayloads(t *testing.T) {
	w := newWorld(t, posts)
	var items events
	for i := range 12 {
		items = append(items, w.liked(fmt.Sprint(i), i))
	}
	small := w.item(`"type":"post"`, `"id":"small"`, `"at":"2099-03-01T10:00:00Z"`, `"pages":7`, `"likes":2`, `"about":{"topic":"go"}`)
	w.keep(append(slices.Clone(items), small, w.order("1", 5))...)
	st := w.touching()
	got, err := repair.Of(st).Touch(deadline(t))
	if err != nil || got.Touched != 14 || got.Payloads != 12 || len(got.Refused) != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	two := w.postsOfTwo()
	for i, item := range items {
		read, err := st.Item(deadline(t), item.Key)
		must.Succeed(t, err)
		now := w.itemOf(two, strings.TrimSuffix(strings.TrimPrefix(item.Text(), "{"), "}"))
		if read.Data != now.Data || read.Epoch != 2 || read.Payload == nil || read.Payload.Sum != item.Payload.Sum ||
			read.Digest != item.Digest {
			t.Errorf("the item is %+v, want data %s", read, now.Data)
		}
		if !strings.Contains(read.Data, fmt.Sprintf(`"likes" : %d.50`, i)) || strings.Contains(read.Data, "lorem") {
			t.Errorf("data is %s", read.Data)
		}
		if c := two.Contributions(read); len(c.Failed) != 0 || len(c.Behind) != 0 || len(c.List) != 2 {
			t.Errorf("it contributes %+v", c)
		}
	}
	if again, err := repair.Of(st).Touch(deadline(t)); err != nil || again.Touched != 0 || again.Payloads != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// An item whose payload is lost keeps its stamp, and the pass names it. The others are touched.
// When the object is back, the next pass brings the item in.
func TestTouchOfALostPayload(t *testing.T) {
	w := newWorld(t, posts)
	a, b := w.liked("1", 1), w.liked("2", 2)
	w.keep(a, b)
	st := w.touching()
	w.loses(a)
	got, err := repair.Of(st).Touch(deadline(t))
	must.Fail(t, err, "1 of the items could not be updated", "POST#1 / POST", objectOf(a))
	if got.Touched != 1 || len(got.Refused) != 1 || got.Refused[0] != a.Key {
		t.Errorf("%+v", got)
	}
	if img := w.stored("events", a.Key); rows.NumberOf(img["epoch"]) != "1" {
		t.Errorf("it is stamped %v", img["epoch"])
	}
	if results, _ := w.arrive(a); results[0].Verdict != event.Duplicate { // which uploads it again
		t.Fatalf("%+v", results[0])
	}
	if got, err = repair.Of(st).Touch(deadline(t)); err != nil || got.Touched != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// While payloads cannot be read, the pass ends, and stamps nothing without its data. It may be
// repeated.
func TestTouchWhilePayloadsCannotBeRead(t *testing.T) {
	for _, code := range []string{"AccessDenied", "SlowDown"} {
		w := newWorld(t, posts)
		a := w.liked("1", 1)
		w.keep(a)
		st := w.touching()
		w.faults = []fault{{API: "GetObject", Before: &smithy.GenericAPIError{Code: code}, Always: true}}
		if got, err := repair.Of(st).Touch(deadline(t)); err == nil || !strings.Contains(err.Error(), code) || got.Touched != 0 ||
			len(got.Refused) != 0 {
			t.Errorf("%s: %+v, %v", code, got, err)
		}
		w.faults = nil
		if item, err := st.Item(deadline(t), a.Key); err != nil || item.Epoch != 1 {
			t.Errorf("%s: %+v, %v", code, item, err)
		}
		if got, err := repair.Of(st).Touch(deadline(t)); err != nil || got.Touched != 1 {
			t.Errorf("%s: %+v, %v", code, got, err)
		}
	}
}

// Whatever happens to the item between the read of its payload and the write, no image gets data
// that is not its own: it was erased, removed, replaced by another event, or touched by somebody
// else.
func TestTouchMeetsAnotherItem(t *testing.T) {
	for what, change := range map[string]func(w *world, st *store.Store, a *event.Item) error{
		"erased": func(w *world, st *store.Store, a *event.Item) error {
			_, err := repair.Of(st).Erase(deadline(w.t), a.Key)
			return err
		},
		"removed": func(w *world, _ *store.Store, a *event.Item) error {
			w.removes(a.Key)
			return nil
		},
		"replaced": nil, "its payload": nil, "its digest": nil, // below
		"touched": func(w *world, st *store.Store, _ *event.Item) error {
			_, err := repair.Of(st).Touch(deadline(w.t))
			return err
		},
	} {
		w := newWorld(t, posts)
		a := w.liked("1", 1)
		w.keep(a)
		st := w.touching()
		if change == nil { // the same key with another payload, or with a part of it
			other := w.liked("1", 9)
			img := w.stored("events", a.Key)
			change = func(w *world, _ *store.Store, _ *event.Item) error {
				if what != "its payload" {
					img["digest"] = rows.Binary(other.Digest[:])
				}
				if what != "its digest" {
					img["i:payload"] = rows.Binary(other.Payload.Sum[:])
				}
				w.put("events", img)
				return nil
			}
		}
		done := false
		w.onCall = func(api string, in any) error {
			if update, ok := in.(*dynamodb.UpdateItemInput); ok && !done && *update.TableName == "events" {
				done = true
				return change(w, st, a)
			}
			return nil
		}
		got, err := repair.Of(st).Touch(deadline(t))
		w.onCall = nil
		if !done || err != nil || got.Touched != 0 {
			t.Errorf("%s: %v, %+v, %v", what, done, got, err)
		}
		replaced := what == "replaced" || strings.HasPrefix(what, "its ")
		if img := w.stored("events", a.Key); replaced && rows.NumberOf(img["epoch"]) != "1" || what == "erased" &&
			img["data"] != nil || what == "removed" && img != nil {
			t.Errorf("%s: the table has %v", what, img)
		}
	}
}

// A touch is a single write, which may fail and be absent, or fail and be present. Each is
// repeated.
func TestEveryFaultOfTouchedPayloads(t *testing.T) {
	for _, f := range []fault{{API: "GetObject", Before: errLost}, {API: "GetObject", After: errLost}, {API: "UpdateItem", Before: errLost},
		{API: "UpdateItem", After: errLost}, {API: "UpdateItem", Before: errThrottled}} {
		w := newWorld(t, posts)
		a := w.liked("1", 1)
		w.keep(a)
		st := w.touching()
		w.faults = []fault{f}
		if _, err := repair.Of(st).Touch(deadline(t)); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
		if item, err := st.Item(deadline(t), a.Key); err != nil || item.Epoch != 2 || !strings.Contains(item.Data, "likes") {
			t.Errorf("%+v: %+v, %v", f, item, err)
		}
	}
}

// What the new file keeps may not fit into the item. The pass names it and goes on.
func TestTouchKeepsMoreThanFits(t *testing.T) {
	w := newWorld(t, posts)
	a, b := w.post("post", "1", `"likes":1`, `"about":{"topic":"go"}`, `"big":["`+strings.Repeat("x", 450<<10)+`"]`), w.liked("2", 2)
	w.keep(a, b)
	w.start()
	st := w.changed(func(s *pipeline.Spec) {
		s.Epoch = 2
		adds(s, `aggregates: {big: {since: 2, from: {post: {values: {bigs: sum length big?}}}}}`)
	})
	must.Succeed(t, st.Start(deadline(t)))
	got, err := repair.Of(st).Touch(deadline(t))
	if err == nil || !strings.Contains(err.Error(), "shorten") || len(got.Refused) != 1 || got.Refused[0] != a.Key || got.Touched != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Parts that the file declares only now are made from the whole payload. If it is lost, the pass
// says which parts cannot be known.
func TestPartsOfPayloadsElsewhere(t *testing.T) {
	w := newWorld(t, posts)
	a, b := w.post("post", "1", `"tags":[{"n":1},{"n":2}]`), w.post("post", "2", `"tags":[{"n":1}]`)
	w.keep(a, b)
	w.start()
	st := w.changed(tagged)
	w.loses(b)
	done, err := repair.Of(st).PutParts(deadline(t))
	if err != nil || done.Wholes != 2 || done.Put != 2 || done.Missing != 3 || len(done.Refused) != 1 ||
		!strings.Contains(done.Refused[0].Error(), "POST#2 / POST") {
		t.Errorf("%+v, %v", done, err)
	}
	for _, n := range []string{"1", "2"} {
		if item, err := st.Item(deadline(t), under("POST#1", "TAG#"+n)); err != nil || item == nil ||
			item.Data != `{"id":"1","n":`+n+`}` {
			t.Errorf("tag %s: %+v, %v", n, item, err)
		}
	}
	if erased, err := repair.Of(st).Erase(deadline(t), a.Key); err != nil || !erased {
		t.Fatal(err)
	}
	if img := w.stored("events", under("POST#1", "TAG#2")); img["i:barred"] == nil {
		t.Errorf("a part of an erased event is %v", img)
	}
}

// Erasing bars the key and then deletes all payloads of it, and of no other key. What was
// interrupted is finished by erasing again.
func TestEraseDeletesPayloads(t *testing.T) {
	w := newWorld(t, posts)
	thread, other := w.thread("thread", "1"), w.post("post", "2")
	w.keep(thread, other)
	conflict := w.post("post", "2", `"more":8`)
	w.arrive(conflict) // which leaves an object of its own
	before := w.objects()
	if before != 5 {
		t.Fatalf("%d objects", before)
	}
	// The bar comes first: at the first request to S3, the key is barred already.
	w.onCall = func(api string, _ any) error {
		if api == "ListObjectsV2" || api == "DeleteObjects" {
			if w.stored("events", thread.Parts.Items[0].Key)["i:barred"] == nil {
				t.Error("payloads are deleted while no key is barred")
			}
		}
		return nil
	}
	if erased, err := w.erase(thread.Key); err != nil || !erased {
		t.Fatal(erased, err)
	}
	w.onCall = nil
	must.Equal(t, w.objects(), 2)
	// S3 does not answer: the key is barred, and the error says what is left.
	w.faults = []fault{{API: "DeleteObjects", Before: &smithy.GenericAPIError{Code: "AccessDenied"}}}
	if _, err := w.erase(other.Key); err == nil ||
		!strings.Contains(err.Error(), "the key is barred, but its payloads are not all deleted; erase it again") || w.objects() != 2 {
		t.Errorf("%v", err)
	}
	w.faults = nil
	if w.stored("events", other.Key)["i:barred"] == nil {
		t.Error("the key is not barred")
	}
	if erased, err := w.erase(other.Key); err != nil || erased || w.objects() != 0 {
		t.Errorf("again: %v, %v, %d objects", erased, err, w.objects())
	}
	if results, _ := w.arrive(other); results[0].Verdict != event.Duplicate || w.objects() != 0 {
		t.Errorf("it comes again: %+v, %d objects", results[0], w.objects())
	}
}

// Without the bucket nothing is erased, because payloads would stay. A file without offload asks S3
// nothing, unless the item says that its payload is there.
func TestEraseNeedsTheBucket(t *testing.T) {
	w := newWorld(t, posts)
	a := w.post("post", "1")
	w.keep(a)
	without := w.changed(inside)
	c := without.Config()
	c.Objects, c.PayloadBucket = nil, ""
	if _, err := repair.Of(w.open(c)).Erase(deadline(t), a.Key); err == nil || !strings.Contains(err.Error(), "Config.PayloadBucket") ||
		w.stored("events", a.Key)["i:barred"] != nil {
		t.Errorf("without the bucket: %v", err)
	}
	if _, err := repair.Of(w.open(c)).Erase(deadline(t), w.order("1", 1).Key); err != nil {
		t.Errorf("a key that nothing is stored under: %v", err)
	}
	if erased, err := repair.Of(without).Erase(deadline(t), a.Key); err != nil || !erased || w.objects() != 0 {
		t.Errorf("%v, %v, %d objects", erased, err, w.objects())
	}
}
