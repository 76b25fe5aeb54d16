package model

import "strconv"

// Needs names the order that a payment requires. Its id is empty if the event requires nothing.
func (f Fact) Needs() Fact { return Fact{Type: "order", ID: f.After} }

// storedPayment returns what the item of a payment must hold. See [Fact.stored].
func (f Fact) storedPayment() map[string]Typed {
	all := f.common()
	all["amount"] = Typed{"N", strconv.FormatInt(f.Cents, 10)}
	return all
}

// contributePayment returns what a payment contributes.
func contributePayment(img *Image) Part {
	return Part{Name: "payments", since: 1, Window: "-", subtract: true, spread: 1,
		Values: map[string]int64{"payments": 1, "paid": img.Cents}}
}
