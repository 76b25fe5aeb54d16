package sim

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
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

// values is how many different coupons there are in a world. There are so few that orders often
// want the same one.
const values = 12

// addSomeCoupons lets an order want coupons, if the world has them. Where nothing goes wrong, no
// two orders want the same one.
func (w *claims) addSomeCoupons(f *model.Fact) {
	if !w.plan.Claims || f.Type != "order" {
		return
	}
	f.Coupons = model.NoLines
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

// stands reports whether the key of a part holds exactly this part, or a bar. A bar never takes the
// place of a claim.
func (w *claims) stands(p model.Fact) bool {
	item := w.read(eventsTable, p.PK(), p.SK())
	switch p.Type {
	case "line":
		return len(item) > 0
	case "shelf":
		return w.states.stands(p, item)
	}
	digest := p.Digest()
	return text(item["digest"]) == hex.EncodeToString(digest[:])
}

// checkClaim checks a claim that appears or goes. The same claim may not come a second time. It may
// go when it has expired, when a person removes it, and at the moment in which its order is barred.
// If it went before, two stored orders could have one value.
func (w *claims) checkClaim(c *model.Change) {
	if c.New == nil {
		if c.Old.Type != "coupon" || c.Expired || w.people.removing == c.Old.Key() {
			return
		}
		w.Faults[released]++
		if of := c.Old.Order(); w.read(eventsTable, of.PK(), of.SK())["i:barred"] == nil {
			w.Fail(Shared, "%s is free again, and %s, which has it, is not barred", c.Old.Key(), of.Key())
		}
		return
	}
	if c.New.Type != "coupon" || c.Old != nil {
		return
	}
	h, had := w.model.Keys[c.New.Key()], 0
	for _, s := range h.States {
		if s.Image != nil && s.Image.Fact == c.New.Fact && s.Image.Epoch == c.New.Epoch {
			had++
		}
	}
	if had > 1 && !h.Removed {
		w.Fail(Reinserted, "%s was claimed for %s %d times", c.New.Key(), c.New.Owner, had)
	}
}

// holders lists the stored orders that have coupons.
func (w *claims) holders() (list []model.Fact) {
	if !w.plan.Claims {
		return nil
	}
	for _, key := range sortedKeys(w.model.Keys) {
		if live := w.model.Keys[key].Live; live != nil && len(live.CouponFacts()) > 0 {
			list = append(list, live.Fact)
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
		for _, key := range sortedKeys(w.model.Keys) {
			live := w.model.Keys[key].Live
			if live == nil || live.PK != text(check.Key["PK"]) {
				continue
			}
			w.Fault(goneBefore, key)
			sending := w.Current
			w.Current = &task{Name: "person"} // what a person writes is not counted to the invocation
			if live.Type == "coupon" || live.Type == "shelf" || w.wholes.draw.IntN(2) == 0 {
				w.people.delete(live)
			} else {
				w.Must(eraseAll(context.Background(), w.operators.storeOf(w.dynamo, w.wholes.toolEpoch(), w.Env(w.Rng.Float64, 0)),
					keyOfFact(live.Fact)))
			}
			w.Current = sending
			w.wrote()
			return
		}
	}
}

// checkReleased checks that the erased order has left no claim behind, and that nothing keeps
// others from claiming the value.
func (w *claims) checkReleased(of model.Fact) {
	for _, p := range of.CouponFacts() {
		if img := w.model.Keys[p.Key()].Holds(); img != nil && (img.Barred || img.Fact == p) {
			w.Fail(Returned, "%s was erased, and nobody else can claim its %s", of.Key(), p.Key())
			return
		}
	}
}
