package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Other programs read the event item, so this test names it attribute by attribute.
func TestStoredItem(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		adds(&s.Spec, `
events:
  full:
    {id: "{id}", at: "{at}", key: {pk: "FULL#{id}", sk: X}, retain: 90d, mode: latest, revision: seq number,
     indexes: {GSI1: {pk: "DAY#{@at | day}", sk: "{@at | time}#{@source}#{@attribute.tenant}"}},
     attributes: {status: status, total: total, paid: paid, gone: nothing}}
`)
	})
	item, err := w.plan.Plan(
		envelopeOf(
			`{"specversion":"1.0","type":"full","source":"/shop","id":"e-1","tenant":"t 1","data":{"id":"a#1","at":"2099-03-01T10:00:00.5Z","seq":1e2,"status":"","total":-12.50,"paid":false}}`))
	must.Succeed(t, err)
	if results, _ := w.arrive(item); results[0].Verdict != event.Inserted {
		t.Fatalf("%+v", results[0])
	}
	img := w.stored("events", item.Key)
	want := map[string]string{
		"PK": "S FULL#a%231", "SK": "S X", "GSI1PK": "S DAY#2099-03-01", "GSI1SK": "S 2099-03-01T10:00:00.500000000Z#/shop#t 1",
		"type": "S full", "id": "S a%231", "at": "S 2099-03-01T10:00:00.500000000Z", "digest": "B " + item.Digest.String(), "epoch": "N 1",
		"expiresAt": "N " + strconv.FormatInt(must.Time("2099-05-30T10:00:01Z").Unix(), 10), // rounded up
		"revision":  "N 100", "meta": "M of 2", "status": "S ", "total": "N -12.5", "paid": "BOOL false",
		"data": `S {"id":"a#1","at":"2099-03-01T10:00:00.5Z","seq":1e2,"status":"","total":-12.50,"paid":false}`,
	}
	for name, value := range want {
		must.Equal(t, show(img[name]), value, name)
	}
	for name, v := range img {
		if want[name] == "" {
			t.Errorf("%s: %s is there too", name, show(v))
		}
	}
	meta := img["meta"].(*types.AttributeValueMemberM).Value
	if show(meta["source"]) != "S /shop" || show(meta["attribute.tenant"]) != "S t 1" {
		t.Errorf("meta %v", meta)
	}
	// An item that never expires has no expiresAt. An attribute that nobody uses is not there.
	bare := w.item(`"type":"indexed"`, `"id":"j"`, `"at":"2099-03-01T10:00:00Z"`)
	bare.ExpiresAt = 0
	w.arrive(bare)
	if img := w.stored("events", bare.Key); len(img) != 8 {
		t.Errorf("%d attributes", len(img))
	}
}

// Other programs also read the aggregate item and the receipt.
func TestStoredTotalAndReceipt(t *testing.T) {
	w := newWorld(t)
	item := w.order("1", 5)
	item.Epoch = 1
	w.counts(258, item, w.order("2", 7))
	mark := lanes.LaneIDOf(lane).MarkAttribute()
	if len(mark) != 2+16 {
		t.Errorf("mark attribute %s", mark)
	}
	key := under(fmt.Sprintf("A#daily#1#%d#m", lanes.LaneIDOf(lane).Bucket(4)), "2099-03-01T00:00:00Z")
	img := w.stored("totals", key)
	created := fmt.Sprintf("%08x", w.Clock.Now().Unix())
	for name, want := range map[string]string{"orders": "N 2", "revenue": "N 12", "n": "N 2", mark: "B " + strings.Repeat("0", 2*17-4) +
		"0103" + created,
		"expiresAt": "N " + strconv.FormatInt(must.Time("2099-03-02T00:00:00Z").Add(100*24*time.Hour).Unix(), 10)} {
		must.Equal(t, show(img[name]), want, name)
	}
	if len(img) != 8 || img["fp"] == nil || img["fpx"] != nil || img["flag"] != nil {
		t.Errorf("%d attributes: %v", len(img), img)
	}
	if img := w.stored("totals", under("A#live#1#0", "-")); show(img["revenue"]) != "N 12" || img["expiresAt"] != nil {
		t.Errorf("%v", img)
	}
	w = newWorld(t, counting(aggregate.Receipts))
	late := w.batch(aggregate.Receipts, 258, item)
	w.Clock.Pass(-1000 * time.Hour) // a slow clock does not end the receipt early
	w.apply(late)
	receipt := w.stored("totals", lanes.ReceiptKey(lane.StreamARN, item.Key, w.sequence(258)))
	if len(receipt) != 3 || show(receipt["SK"]) != "S -" || len(show(receipt["PK"])) != len("S R#")+64 ||
		show(receipt["expiresAt"]) != "N "+strconv.FormatInt(epoch.Add(96*time.Hour).Unix(), 10) {
		t.Errorf("%v", receipt)
	}
}

// Every item that can be stored comes back as it was.
func TestItemsComeBack(t *testing.T) {
	seed := replay.Seed(t, 0)
	r := rand.New(rand.NewPCG(seed, 1))
	text := func(n int) string {
		alphabet := []rune("aZ0#%\"\\\u00e9\u2028\ufffd\U0001F600 \x00\n'")
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	w := newWorld(t)
	want := map[event.Key]*event.Item{}
	var items events
	for range 200 {
		item := &event.Item{Key: under(text(20), text(20)), Type: text(5), ID: text(9), Data: text(50),
			Epoch: r.Int64N(event.MaxEpoch + 1),
			At:    time.Unix(r.Int64N(253402300800), r.Int64N(1e9)).UTC()}
		for i := range item.Digest {
			item.Digest[i] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			item.ExpiresAt = w.Clock.Now().Unix() + 7200 + r.Int64N(1<<40)
		}
		if r.IntN(2) == 0 {
			d, err := event.ParseDecimal(fmt.Sprintf("%de%d", r.Int64()-r.Int64(), r.IntN(60)-30))
			must.Succeed(t, err)
			item.Revision = &d
		}
		for range r.IntN(3) {
			if item.Meta == nil {
				item.Meta = map[string]string{}
			}
			item.Meta["attribute."+text(4)] = text(9)
		}
		if r.IntN(2) == 0 {
			item.Indexes = []event.IndexKey{{Name: "GSI1", Key: under(text(9), text(9))},
				{Name: "GSI20", Key: under(text(9), text(9))}}
		}
		if r.IntN(2) == 0 {
			item.Attributes = []event.Attribute{{Name: "amount", Kind: event.NumberAttribute, Text: fmt.Sprint(r.IntN(1000))},
				{Name: "open", Kind: event.BoolAttribute, Text: fmt.Sprint(r.IntN(2) == 0)},
				{Name: "word", Kind: event.StringAttribute, Text: text(4)}}
		}
		if want[item.Key] == nil {
			want[item.Key], items = item, append(items, item)
		}
	}
	results, cost := w.arrive(items...)
	size := 0
	for i, result := range results {
		if result.Verdict != event.Inserted {
			t.Fatalf("%+v: %v", items[i], result.Refusal)
		}
		size += itemform.WriteUnits(items[i].Size()) * (1 + len(items[i].Indexes))
	}
	must.Equal(t, cost.WriteUnits, float64(size), size)
	n := 0
	for item, err := range w.store.Items(context.Background()) {
		must.Succeed(t, err)
		n++
		original := want[item.Key]
		if original == nil {
			t.Fatalf("%v was never put", item.Key)
		}
		// Decimals are compared as numbers, and then left out.
		if (item.Revision == nil) != (original.Revision == nil) || item.Revision != nil && item.Revision.Cmp(*original.Revision) != 0 {
			t.Errorf("revision %v, want %v", item.Revision, original.Revision)
		}
		a, b := *item, *original
		a.Revision, b.Revision = nil, nil
		must.Match(t, a, b)
	}
	must.Equal(t, n, len(items))
}
