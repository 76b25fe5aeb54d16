package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/pipeline"
)

// claims are coupons that only one order can have.
type claims struct {
	*World
}

// In worlds whose plan has Claims, orders are atomic and may want coupons. A coupon is a part
// without its order's id in its key, so only one stored order can have it. It is a claim to a
// unique value.

// couponSpec declares the coupons of orders.
var couponSpec = pipeline.EventSpec{ID: "{coupon}", Key: pipeline.KeySpec{PK: "COUPON#{coupon}", SK: "COUPON"},
	Part: pipeline.PartSpec{Of: "order", Each: "coupons", With: []string{"id", "merchant", "at"}}}

func addCoupons(spec *pipeline.Spec) {
	coupon := couponSpec
	coupon.Indexes = map[string]pipeline.IndexSpec{}
	spec.Events["coupon"] = coupon
}

// coupons returns the claims of an order.
func (f fact) coupons() (list []fact) {
	if f.Coupons == "" || f.Coupons == noLines {
		return nil
	}
	for value := range strings.SplitSeq(f.Coupons, ",") {
		list = append(list, fact{Type: "coupon", ID: value, Merchant: f.Merchant, At: f.At, Owner: f.ID})
	}
	return list
}

// spellCoupons writes the claims of an order as a member of its payload.
func (f fact) spellCoupons() string {
	if f.Coupons == "" {
		return ""
	}
	var list []string
	for _, c := range f.coupons() {
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
		return noLines
	}
	var list []string
	for _, c := range coupons {
		list = append(list, c.Coupon)
	}
	return strings.Join(list, ",")
}

// readCoupon reads the payload of a claim.
func readCoupon(data string) (fact, error) {
	var raw struct{ ID, Merchant, At, Coupon string }
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return fact{}, err
	}
	return fact{Type: "coupon", ID: raw.Coupon, Merchant: raw.Merchant, At: raw.At, Owner: raw.ID}, nil
}

// values is how many different coupons there are in a world. There are so few that orders often
// want the same one.
const values = 12

// addSomeCoupons lets an order want coupons, if the world has them. Where nothing goes wrong, no
// two orders want the same one.
func (w *claims) addSomeCoupons(f *fact) {
	if !w.plan.Claims || f.Type != "order" {
		return
	}
	f.Coupons = noLines
	if w.plan.Still {
		f.Coupons = f.ID
		return
	}
	first := w.wholes.draw.IntN(values)
	switch w.wholes.draw.IntN(5) {
	case 0, 1:
		f.Coupons = strconv.Itoa(first)
	case 2:
		f.Coupons = fmt.Sprintf("%d,%d", first, (first+1+w.wholes.draw.IntN(values-1))%values)
	}
}

// digestCoupon returns the digest of a claim, which is about its order too. So two orders that want
// one coupon never have the same claim.
func (f fact) digestCoupon() [sha256.Size]byte {
	payload := map[string]any{"id": f.Owner, "merchant": f.Merchant, "at": f.At, "coupon": f.ID}
	text, _ := json.Marshal([]any{f.Type, payload, "order", f.Owner}) // texts: Marshal cannot fail
	return sha256.Sum256(text)
}

// isPart reports whether the event is a part of an order.
func (f fact) isPart() bool { return f.Type == "line" || f.Type == "coupon" }

// parts returns all parts of an order.
func (f fact) parts() []fact { return append(f.lines(), f.coupons()...) }

// order names the order that a part belongs to.
func (f fact) order() fact {
	id := f.Owner
	if f.Type == "line" {
		id, _ = f.wholeID()
	}
	return fact{Type: "order", ID: id}
}

// stands reports whether the key of a part holds exactly this part, or a bar. A bar never takes the
// place of a claim.
func (w *claims) stands(p fact) bool {
	item := w.read(eventsTable, p.pk(), p.sk())
	if p.Type != "coupon" {
		return len(item) > 0
	}
	digest := p.digest()
	return text(item["digest"]) == hex.EncodeToString(digest[:])
}

// checkClaim checks a claim that appears or goes. The same claim may not come a second time. It may
// go when it has expired, when a person removes it, and at the moment in which its order is barred.
// If it went before, two stored orders could have one value.
func (w *claims) checkClaim(c *change) {
	if c.new == nil {
		if c.old.Type != "coupon" || c.expired || w.people.removing == c.old.key() {
			return
		}
		w.Faults[released]++
		if of := c.old.order(); w.read(eventsTable, of.pk(), of.sk())["i:barred"] == nil {
			w.Fail(Shared, "%s is free again, and %s, which has it, is not barred", c.old.key(), of.key())
		}
		return
	}
	if c.new.Type != "coupon" || c.old != nil {
		return
	}
	h, had := w.model.keys[c.new.key()], 0
	for _, s := range h.states {
		if s.img != nil && s.img.fact == c.new.fact && s.img.epoch == c.new.epoch {
			had++
		}
	}
	if had > 1 && !h.removed {
		w.Fail(Reinserted, "%s was claimed for %s %d times", c.new.key(), c.new.Owner, had)
	}
}

// holders lists the stored orders that have coupons.
func (w *claims) holders() (list []fact) {
	if !w.plan.Claims {
		return nil
	}
	for _, key := range sortedKeys(w.model.keys) {
		if live := w.model.keys[key].live; live != nil && len(live.coupons()) > 0 {
			list = append(list, live.fact)
		}
	}
	return list
}

// goneBeforeCheck lets a person remove or erase an item that a transaction has met and is now about
// to name in a condition.
func (w *claims) goneBeforeCheck(in *dynamodb.TransactWriteItemsInput) {
	if !w.plan.Claims || w.Calm {
		return
	}
	for _, item := range in.TransactItems {
		check := item.ConditionCheck
		if check == nil || *check.TableName != eventsTable || w.wholes.draw.IntN(3) > 0 {
			continue
		}
		for _, key := range sortedKeys(w.model.keys) {
			live := w.model.keys[key].live
			if live == nil || live.pk != text(check.Key["PK"]) {
				continue
			}
			w.Fault(goneBefore, key)
			sending := w.Current
			w.Current = &task{Name: "person"} // what a person writes is not counted to the invocation
			if live.Type == "coupon" || w.wholes.draw.IntN(2) == 0 {
				w.people.delete(live)
			} else {
				w.Must(eraseAll(context.Background(), w.operators.storeOf(w.dynamo, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)),
					keyOfFact(live.fact)))
			}
			w.Current = sending
			w.wrote()
			return
		}
	}
}

// checkReleased checks that the erased order has left no claim behind, and that nothing keeps
// others from claiming the value.
func (w *claims) checkReleased(of fact) {
	for _, p := range of.coupons() {
		if img := w.model.keys[p.key()].holds(); img != nil && (img.barred || img.fact == p) {
			w.Fail(Returned, "%s was erased, and nobody else can claim its %s", of.key(), p.key())
			return
		}
	}
}
