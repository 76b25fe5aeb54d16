package tally

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// Orders returns a [Tally] of orders, payments and refunds: the turnover of each merchant and day,
// the sales of each product, and what each customer spent. Customers appear as keyed hashes.
func Orders(secret []byte) *Tally {
	return newTally(func(t *Tally, body []byte) error { return order(t, body, secret) }, "customer_recent")
}

type orderFact struct {
	Type       string
	Merchant   string      `json:"merchant_id"`
	Customer   string      `json:"customer_id"`
	Product    string      `json:"product_id"`
	Currency   string      `json:"currency"`
	Status     string      `json:"status"`
	Quantity   json.Number `json:"quantity"`
	Total      json.Number `json:"total_cents"`
	Amount     json.Number `json:"amount_cents"`
	Refund     json.Number `json:"refund_cents"`
	PlacedAt   time.Time   `json:"placed_at"`
	PaidAt     time.Time   `json:"paid_at"`
	RefundedAt time.Time   `json:"refunded_at"`
}

func order(t *Tally, body []byte, secret []byte) error {
	var f orderFact
	if err := json.Unmarshal(body, &f); err != nil {
		return err
	}
	switch f.Type {
	case "order.placed":
		return f.placed(t, secret)
	case "order.paid":
		return f.paid(t)
	case "order.refunded":
		return f.refunded(t, secret)
	}
	return fmt.Errorf("the tally does not know events of type %q", f.Type)
}

func (f *orderFact) placed(t *Tally, secret []byte) error {
	total, err := number(f.Total)
	if err != nil {
		return err
	}
	quantity, err := number(f.Quantity)
	if err != nil {
		return err
	}
	daily := f.daily(f.PlacedAt)
	t.sum(daily, "orders", one())
	t.sum(daily, "ordered", total)
	t.largest(daily, total)
	if quantity.Sign() > 0 {
		t.sum(Total{"product_totals", f.Product, "-"}, "orders", one())
		t.sum(Total{"product_totals", f.Product, "-"}, "units", quantity)
	}
	t.sum(f.customer(secret), "orders", one())
	t.sum(f.customer(secret), "spent", total)
	return nil
}

func (f *orderFact) paid(t *Tally) error {
	amount, err := number(f.Amount)
	if err == nil && f.Status == "captured" {
		t.sum(f.daily(f.PaidAt), "revenue", amount)
	}
	return err
}

func (f *orderFact) refunded(t *Tally, secret []byte) error {
	refund, err := number(f.Refund)
	if err != nil {
		return err
	}
	back := new(big.Rat).Neg(refund)
	daily := f.daily(f.RefundedAt)
	t.sum(daily, "refunds", one())
	t.sum(daily, "revenue", back)
	t.sum(f.customer(secret), "spent", back)
	return nil
}

func (f *orderFact) daily(at time.Time) Total {
	return Total{"merchant_daily", f.Currency + "#" + f.Merchant, day(at)}
}

func (f *orderFact) customer(secret []byte) Total {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(f.Customer))
	return Total{"customer_recent", f.Currency + "#" + hex.EncodeToString(mac.Sum(nil)), "-"}
}
