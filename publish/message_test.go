package publish

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/pipeline"
)

func anItem() *event.Item {
	return &event.Item{Key: event.Key{PK: "ORDER#1", SK: "ORDER"}, Type: "order.placed", At: time.Date(2031, 5, 5, 6, 0, 0, 5e6, time.UTC),
		Digest: event.Digest{1, 2, 3}, Epoch: 1, Data: "{\"order_id\": \"1\", \"note\":\"\uffff\"}"}
}

// The bytes of a message, and with them its id, are the same for ever.
func TestMessages(t *testing.T) {
	p := &Plan{source: "shop", pipeline: new(pipeline.Pipeline)}
	removed := must.Time("2031-05-06T00:00:00Z")
	offloaded := anItem()
	offloaded.Payload = &event.Payload{Sum: [32]byte{9}}
	revised := anItem()
	two := event.DecimalOf(2)
	revised.Revision = &two
	traced := anItem()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traced.Attributes = []event.Attribute{{Name: "status", Text: parent}, {Name: "traceparent", Text: parent}}
	for name, c := range map[string]struct {
		change  change
		payload string
		want    string
	}{
		"stored": {change{what: Stored, item: anItem()}, anItem().Data,
			`{"specversion":"1.0","id":"ID","source":"shop","type":"order.placed","time":"2031-05-05T06:00:00.005Z","change":"stored",` +
				`"datacontenttype":"application/json","data":{"order_id": "1", "note":"\uffff"}}`},
		"changed": {change{what: Changed, item: revised}, "{}",
			`{"specversion":"1.0","id":"ID","source":"shop","type":"order.placed","time":"2031-05-05T06:00:00.005Z","change":"changed",` +
				`"datacontenttype":"application/json","data":{}}`},
		"traced": {change{what: Stored, item: traced}, "{}",
			`{"specversion":"1.0","id":"ID","source":"shop","type":"order.placed","time":"2031-05-05T06:00:00.005Z","change":"stored",` +
				`"traceparent":"` + parent + `","datacontenttype":"application/json","data":{}}`},
		"removed": {change{what: Removed, item: anItem(), at: removed}, "",
			`{"specversion":"1.0","id":"ID","source":"shop","type":"order.placed.removed","time":"2031-05-06T00:00:00Z",` +
				`"change":"removed",` +
				`"pk":"ORDER#1","sk":"ORDER","digest":"0102030000000000000000000000000000000000000000000000000000000000"}`},
		"larger than its target takes": {change{what: Stored, item: offloaded}, "",
			`{"specversion":"1.0","id":"ID","source":"shop","type":"order.placed","time":"2031-05-05T06:00:00.005Z","change":"stored",` +
				`"pk":"ORDER#1","sk":"ORDER","digest":"0102030000000000000000000000000000000000000000000000000000000000",` +
				`"dataref":"s3://payloads/order.placed/HASH/0900000000000000000000000000000000000000000000000000000000000000.json"}`},
	} {
		got := p.message(&c.change, c.payload, "", "payloads")
		want := strings.NewReplacer("ID", got.ID, "HASH", c.change.item.Key.Hash()).Replace(c.want)
		if got.Body != want || got.Change != c.change.what || got.Group != c.change.item.Key.Hash() {
			t.Errorf("%s:\n%s\nwant\n%s", name, got.Body, want)
		}
	}
	for id, got := range map[string]string{
		"451c523b8cff82537ab8327108c0be7c3166becbab745e28088b4d2111042493": idOf("shop", Stored, anItem(), time.Time{}),
		"9327fdf190a6c90ef60a3e4e3a6c061af5d0c2df76202bea601d5db7af566ad6": idOf("shop", Changed, revised, time.Time{}),
		"bcdf66023d6a838edb85b963e0b3ddc3b6866ad8d975d31c36d8322fecaf00cd": idOf("shop", Removed, anItem(), removed),
	} {
		must.Equal(t, got, id)
	}
}

// A copy of a row is not an event before its type has turned: the copy has no epoch then.
// Afterwards its type is published like any other.
func TestChangesOfAMigratedType(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p": {Data: []byte("ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n" +
		`  order.placed: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "ORDER"}, migrated: orders}`)}}, "p")
	must.Succeed(t, err)
	copied, turned, changed := anItem(), anItem(), anItem()
	copied.Epoch, changed.Digest = 0, event.Digest{2}
	for name, c := range map[string]struct {
		was, is *event.Item
		want    string
	}{
		"a copy":             {nil, copied, ""},
		"a copy is deleted":  {copied, nil, ""},
		"a copy is touched":  {copied, turned, ""}, // by the rebuild after a turn
		"a copy is replaced": {copied, changed, Changed},
		"stored":             {nil, turned, Stored},
		"changed":            {turned, changed, Changed},
		"removed":            {turned, nil, Removed}, // also by a tombstone, after the way back
	} {
		if got := (&Plan{pipeline: p}).changeOf(&event.Change{Old: c.was, New: c.is}); got.what != c.want {
			t.Errorf("%s: %q is published, want %q", name, got.what, c.want)
		}
	}
}

// An earlier payload that is in the payload bucket is not known: what may be wanted is sent.
func TestEarlierPayloadInTheBucket(t *testing.T) {
	when, bad := where.ParseWhen(`before(order_id) = "2"`)
	if bad != nil {
		t.Fatal(bad)
	}
	p := &Plan{Publications: []Publication{{when: when}}}
	for _, payload := range []*event.Payload{nil, {}} {
		c := change{what: Changed, item: anItem(), was: anItem(), place: "1"}
		c.was.Payload = payload
		if got := p.wants(&c, "{}"); got != (payload != nil) || (c.earlier() == "") != got {
			t.Errorf("%v: wanted: %t, %q", payload, got, c.earlier())
		}
	}
}

// Whatever tells events apart is in the id, and nothing else is.
func TestIDs(t *testing.T) {
	base := idOf("shop", Stored, anItem(), time.Time{})
	two := event.DecimalOf(2)
	for name, c := range map[string]struct {
		source, what string
		edit         func(*event.Item)
		same         bool
	}{
		"changed to the same":   {"shop", Changed, func(*event.Item) {}, true},
		"another epoch":         {"shop", Stored, func(i *event.Item) { i.Epoch = 7 }, true},
		"another expiry":        {"shop", Stored, func(i *event.Item) { i.ExpiresAt = 7 }, true},
		"another spelling":      {"shop", Stored, func(i *event.Item) { i.Data = "{ }" }, true},
		"another source":        {"shops", Stored, func(*event.Item) {}, false},
		"another partition":     {"shop", Stored, func(i *event.Item) { i.Key.PK = "ORDER#2" }, false},
		"a moved border":        {"shop", Stored, func(i *event.Item) { i.Key = event.Key{PK: "ORDER#1O", SK: "RDER"} }, false},
		"another digest":        {"shop", Stored, func(i *event.Item) { i.Digest[31] = 1 }, false},
		"another revision":      {"shop", Stored, func(i *event.Item) { i.Revision = &two }, false},
		"another type":          {"shop", Stored, func(i *event.Item) { i.Type = "order" }, false},
		"a removal of the same": {"shop", Removed, func(*event.Item) {}, false},
	} {
		item := anItem()
		c.edit(item)
		if got := idOf(c.source, c.what, item, time.Unix(1, 0)); (got == base) != c.same {
			t.Errorf("%s: the same id: %t", name, got == base)
		}
	}
}
