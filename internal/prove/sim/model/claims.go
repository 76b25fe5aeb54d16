package model

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// CouponFacts returns the claims of an order.
func (f Fact) CouponFacts() (list []Fact) {
	if f.Coupons == "" || f.Coupons == NoLines {
		return nil
	}
	for value := range strings.SplitSeq(f.Coupons, ",") {
		list = append(list, Fact{Type: "coupon", ID: value, Merchant: f.Merchant, At: f.At, Owner: f.ID})
	}
	return list
}

// SpellCoupons writes the claims of an order as a member of its payload.
func (f Fact) SpellCoupons() string {
	if f.Coupons == "" {
		return ""
	}
	var list []string
	for _, c := range f.CouponFacts() {
		list = append(list, fmt.Sprintf(`{"coupon":%q}`, c.ID))
	}
	return `,"coupons":[` + strings.Join(list, ",") + "]"
}

// readCoupons returns claims in the form of [fact.Coupons].
func readCoupons(coupons []struct{ Coupon string }) string {
	if coupons == nil {
		return ""
	}
	if len(coupons) == 0 {
		return NoLines
	}
	var list []string
	for _, c := range coupons {
		list = append(list, c.Coupon)
	}
	return strings.Join(list, ",")
}

// readCoupon reads the payload of a claim.
func readCoupon(data string) (Fact, error) {
	var raw struct{ ID, Merchant, At, Coupon string }
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return Fact{}, err
	}
	return Fact{Type: "coupon", ID: raw.Coupon, Merchant: raw.Merchant, At: raw.At, Owner: raw.ID}, nil
}

// digestCoupon returns the digest of a claim, which is about its order too. So two orders that want
// one coupon never have the same claim.
func (f Fact) digestCoupon() [sha256.Size]byte {
	payload := map[string]any{"id": f.Owner, "merchant": f.Merchant, "at": f.At, "coupon": f.ID}
	text, _ := json.Marshal([]any{f.Type, payload, "order", f.Owner}) // texts: Marshal cannot fail
	return sha256.Sum256(text)
}

// IsPart reports whether the event is a part of an order.
func (f Fact) IsPart() bool { return f.Type == "line" || f.Type == "coupon" || f.Type == "shelf" }

// Parts returns all parts of an order.
func (f Fact) Parts() []Fact {
	return append(append(f.LineFacts(), f.CouponFacts()...), f.ShelfFacts()...)
}

// Order names the order that a part belongs to.
func (f Fact) Order() Fact {
	id := f.Owner
	if f.Type == "line" {
		id, _ = f.WholeID()
	}
	return Fact{Type: "order", ID: id}
}
