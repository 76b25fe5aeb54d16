package keys

import (
	"testing"

	"github.com/ingot-events/ingot/event"
)

const order = `{"type":"order.placed","merchant_id":"m-4711","order_id":"o-2024-000123","customer_id":"c-99887766","placed_at":"2024-03-05T14:07:31.123Z","currency":"EUR","total_cents":129900,"tax_cents":20741,"status":"placed","items":[{"sku":"SKU-1","qty":2,"price_cents":49950},{"sku":"SKU-22","qty":1,"price_cents":30000}],"shipping":{"method":"express","city":"Wien","zip":"1010","country":"AT"},"trace_id":"9f2c"}`

func must(tb testing.TB, text string) *Template {
	tb.Helper()
	t, err := ParseTemplate(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return t
}

func BenchmarkPlan(b *testing.B) {
	id, at := must(b, "{merchant_id}#{order_id}"), must(b, "{placed_at}")
	pk, sk := must(b, "MERCHANT#{merchant_id}"), must(b, "{@at | time}#{@id}")
	for b.Loop() {
		d, err := event.ParseDocument(order)
		if err != nil {
			b.Fatal(err)
		}
		s := Source{Data: d.Root(), Type: "order.placed", HasAt: true}
		s.Digest = Digest(s.Type, s.Data, nil)
		if s.ID, err = id.Expand(&s); err != nil {
			b.Fatal(err)
		}
		if s.At, err = at.Time(&s); err != nil {
			b.Fatal(err)
		}
		if _, err = pk.Expand(&s); err != nil {
			b.Fatal(err)
		}
		if _, err = sk.Expand(&s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	d, _ := event.ParseDocument(order)
	b.ReportAllocs()
	for b.Loop() {
		Digest("order.placed", d.Root(), nil)
	}
}
func BenchmarkKey(b *testing.B) {
	d, _ := event.ParseDocument(order)
	s := Source{Data: d.Root(), Type: "order.placed", HasAt: true}
	pk := must(b, "MERCHANT#{merchant_id}")
	b.ReportAllocs()
	for b.Loop() {
		pk.Expand(&s)
	}
}
