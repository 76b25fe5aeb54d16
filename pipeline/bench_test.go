package pipeline

import (
	"os"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// order400 is an order of 400 bytes.
const order400 = `{"type":"order.placed","merchant_id":"mer_8f3a1c","order_id":"ord_2099_000184467","customer_id":"cus_51b27d44","placed_at":"2099-02-03T04:05:06.500Z","status":"open","currency":"EUR","total_cents":12599,"quantity":3,"lines":[{"sku":"SKU-001122","quantity":2,"cents":4999},{"sku":"SKU-009988","quantity":1,"cents":2601}],"shipping":{"country":"DE","method":"express"},"trace_id":"4bf92f3577b34da6a3ce"}`

// plain returns the example of the design page without hmac.
func plain(t testing.TB) *Pipeline {
	t.Helper()
	text, err := os.ReadFile("testdata/plain.yaml")
	must.Succeed(t, err)
	return mustLoad(t, string(text))
}

func BenchmarkPlan(b *testing.B) {
	p := plain(b)
	b.SetBytes(int64(len(order400)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Plan(envelope.Message{Body: order400}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContributions(b *testing.B) {
	p := plain(b)
	item, err := p.Plan(envelope.Message{Body: order400})
	must.Succeed(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if c := p.Contributions(item); len(c.List) != 2 {
			b.Fatal(c)
		}
	}
}
