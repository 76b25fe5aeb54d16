package keys

import (
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// order is a typical payload of about 400 bytes.
const order = `{"type":"order.placed","merchant_id":"m-4711","order_id":"o-2024-000123","customer_id":"c-99887766","placed_at":"2024-03-05T14:07:31.123Z","currency":"EUR","total_cents":129900,"tax_cents":20741,"status":"placed","items":[{"sku":"SKU-1","qty":2,"price_cents":49950},{"sku":"SKU-22","qty":1,"price_cents":30000}],"shipping":{"method":"express","city":"Wien","zip":"1010","country":"AT"},"trace_id":"9f2c"}`

// The tape and its header, the canonical text, a buffer and the key: nothing else is allocated.
func TestAllocations(t *testing.T) {
	ignore := paths(t, []string{"trace_id"})
	pk, at := compiled(t, "MERCHANT#{merchant_id}#{order_id}"), compiled(t, "{placed_at}")
	sk := compiled(t, "{@at | time}#{total_cents | pad:12 | rev}")
	s := &Source{Data: root(t, order), Type: "order.placed", HasAt: true}
	var err error
	s.At, err = at.Time(s)
	must.Succeed(t, err)
	buffer := make([]byte, 0, 256)
	for _, c := range []struct {
		name string
		most float64
		do   func() error
	}{
		{"ParseDocument", 2, func() error { _, err := event.ParseDocument(order); return err }},
		{"Digest", 1, func() error { Digest(s.Type, s.Data, ignore); return nil }},
		{"Expand", 2, func() error { _, err := pk.Expand(s); return err }},
		{"Append", 0, func() error { _, err := sk.Append(buffer, s); return err }},
		{"Time", 1, func() error { _, err := at.Time(s); return err }},
	} {
		if got := testing.AllocsPerRun(100, func() { err = c.do() }); got > c.most || err != nil {
			t.Errorf("%s: %v allocations, want at most %v (%v)", c.name, got, c.most, err)
		}
	}
}

// BenchmarkOrder is what every event costs before it is put: parse, digest, key.
func BenchmarkOrder(b *testing.B) {
	pk := compiled(b, "MERCHANT#{merchant_id}#{order_id}")
	b.ReportAllocs()
	for b.Loop() {
		d, err := event.ParseDocument(order)
		if err != nil {
			b.Fatal(err)
		}
		s := Source{Data: d.Root(), Type: "order.placed"}
		s.Digest = Digest(s.Type, s.Data, nil)
		if _, err := pk.Expand(&s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	n := root(b, order)
	b.ReportAllocs()
	for b.Loop() {
		Digest("order.placed", n, nil)
	}
}

func BenchmarkExpand(b *testing.B) {
	s := &Source{Data: root(b, order), HasAt: true, At: time.Unix(1709647651, 0), ID: "m-4711#o-1"}
	template := compiled(b, "{@at | time}#{@id}")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Expand(s); err != nil {
			b.Fatal(err)
		}
	}
}
