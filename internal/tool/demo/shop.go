package demo

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/internal/tool/demo/tally"
)

// ShopSecret is the demo's key for hashing its invented customers. It is not secret.
const ShopSecret = "a demo secret: never use it for real customers"

const (
	orderCount = 800
	customers  = 120
	products   = 25
)

var merchants = []struct{ id, currency string }{{"acme", "EUR"}, {"bodega", "USD"}, {"corner-shop", "EUR"}, {"dry-goods", "GBP"},
	{"emporium", "USD"}}

// firstDay is a Monday.
var firstDay = time.Date(2024, 3, 4, 0, 0, 0, 0, time.UTC)

// Shop returns a week of invented orders, payments and refunds. It is made again from the seed
// each time it is read.
func Shop(seed uint64) Data {
	return Data{
		Name:     "orders, payments and refunds",
		About:    synthetic,
		Lines:    made(func() []fact { return shopFacts(seed) }),
		Alter:    raise,
		Resend:   retrace,
		Distinct: true,
		Tally:    tally.Orders([]byte(ShopSecret)),
	}
}

// shopFacts returns the facts of the week, order by order.
func shopFacts(seed uint64) []fact {
	die := source(seed, forOrders)
	var facts []fact
	for n := range orderCount {
		facts = append(facts, order(die, n)...)
	}
	return facts
}

// order returns the life of one order. The order is placed, then paid (sometimes at the second
// try), and sometimes refunded in part.
func order(die *rand.Rand, n int) []fact {
	merchant := merchants[die.IntN(len(merchants))]
	customer, product, quantity := 1+die.IntN(customers), 1+die.IntN(products), 1+die.IntN(4)
	total := quantity * (199 + 100*product + 5*die.IntN(20))
	at := firstDay.Add(time.Duration(die.Int64N(int64(5 * 24 * time.Hour)))).Truncate(time.Millisecond)
	common := func(typ string, at time.Time, clock string) string {
		return fmt.Sprintf(
			`{"type":%q,"synthetic":true,"merchant_id":%q,"order_id":"o-%05d","customer_id":"c-%04d","currency":%q,%q:%q,"trace_id":"%016x","sent_at":%q`,
			typ, merchant.id, n, customer, merchant.currency, clock, at.Format(time.RFC3339Nano), die.Uint64(),
			at.Add(time.Second).Format(time.RFC3339Nano))
	}
	facts := []fact{{at, common("order.placed", at, "placed_at") +
		fmt.Sprintf(`,"product_id":"p-%02d","quantity":%d,"total_cents":%d,"status":"placed"}`, product, quantity, total)}}
	pay := func(try int, status string) {
		at = at.Add(time.Duration(1+die.IntN(20)) * time.Minute)
		facts = append(facts,
			fact{at, common("order.paid", at, "paid_at") + fmt.Sprintf(`,"payment_id":"pay-%d","amount_cents":%d,"status":%q}`, try,
				total, status)})
	}
	if die.Float64() < 0.08 {
		pay(1, "failed")
	}
	pay(2, "captured")
	if die.Float64() < 0.12 {
		at = at.Add(time.Duration(2+die.IntN(40)) * time.Hour)
		facts = append(facts,
			fact{at, common("order.refunded", at, "refunded_at") + fmt.Sprintf(`,"refund_id":"r-1","refund_cents":%d}`, 1+die.IntN(total))})
	}
	return facts
}

var (
	cents   = regexp.MustCompile(`"(total|amount|refund)_cents":[0-9]+`)
	tracing = regexp.MustCompile(`"trace_id":"[0-9a-f]{16}"`)
)

// raise raises the amount of a fact and keeps its id.
func raise(body string, die *rand.Rand) string {
	return cents.ReplaceAllStringFunc(body, func(found string) string { return found + strconv.Itoa(die.IntN(10)) })
}

// retrace returns the fact as the producer sends it in another try. Only the trace differs, which
// is not part of the content of the event.
func retrace(body string, die *rand.Rand) string {
	return tracing.ReplaceAllString(body, fmt.Sprintf(`"trace_id":"%016x"`, die.Uint64()))
}
