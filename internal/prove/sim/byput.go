package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/pipeline"
)

// byPut is what totals that move by the put of an event must do.
type byPut struct {
	*World
	heads  []headState // what the head of the balances has said so far
	asleep int         // rebuilds that wait for the next burst
}

// In worlds whose plan has Put, orders move some totals in the transaction that puts them, next to
// those that the stream moves. One of them has a bound, and orders take from it as often as they
// add to it.

// planPut decides whether totals move with the put. Its draw is its own, so that other worlds stay
// as they are. Nobody spoils such totals.
func (p *Plan) planPut() {
	draw := rand.New(rand.NewPCG(p.Seed, 10))
	if draw.IntN(4) > 0 || p.Faults.Damage > 0 {
		return
	}
	if p.Put = 1; p.Upgrade > 0 && draw.IntN(3) == 0 {
		p.Put = 2
	}
}

// addPut declares totals that move with the put, from an epoch on. One has a bound. If these
// totals begin with the second epoch, nothing may be taken from them until a rebuild is finished:
// see [World.keepBuilding]. Where they begin with the first epoch, the second epoch adds one more.
func addPut(spec *pipeline.Spec, e edition) {
	since := e.put
	from := func(values map[string]string) map[string]pipeline.FromSpec {
		return map[string]pipeline.FromSpec{"order": {Values: values}}
	}
	byMerchant := map[string]string{"merchant": "{merchant}"}
	spec.Aggregates["paid"] = pipeline.AggregateSpec{Since: since, By: byMerchant, MovedBy: "put", OnExpire: "subtract", Spread: e.spread,
		From: from(map[string]string{"orders": "count", "revenue": "sum cents"})}
	spec.Aggregates["balance"] = bounded(e, "order", pipeline.AggregateSpec{Since: since, By: byMerchant, MovedBy: "put"})
	if since == 1 && spec.Epoch > 1 {
		spec.Aggregates["later"] = pipeline.AggregateSpec{Since: 2, MovedBy: "put", OnExpire: "subtract",
			From: from(map[string]string{"orders": "count"})}
	}
}

// bounded gives a total a floor of 0, or a ceiling of 0 and a number for each event.
func bounded(e edition, typ string, a pipeline.AggregateSpec) pipeline.AggregateSpec {
	values := map[string]string{"cents": "sum cents"}
	if e.ceiling {
		values = map[string]string{"owed": "sum -cents", "left": "sum -1"}
		a.AtMost = map[string]event.Decimal{"owed": {}}
	} else {
		a.AtLeast = map[string]event.Decimal{"cents": {}}
	}
	a.From = map[string]pipeline.FromSpec{typ: {Values: values}}
	return a
}

// planTransfers decides whether the lines of orders move accounts. Its draws are its own, so that
// other worlds stay as they are. In a third of these worlds, orders are not atomic: of an order,
// some lines may be stored and others be refused.
func (p *Plan) planTransfers() {
	if rand.New(rand.NewPCG(p.Seed, 15)).IntN(16) > 0 || p.Patterns || p.Faults.Odd > 0 || p.Faults.Damage > 0 {
		return
	}
	p.Transfers, p.Parts, p.Put = true, 1, 1
	if p.Atomic = rand.New(rand.NewPCG(p.Seed, 20)).IntN(3) < 2; !p.Atomic {
		p.Claims = false
	}
}

// addAccounts declares an account for each number of a line, with a bound. So an atomic order moves
// several accounts in the transaction that puts it, or none.
func addAccounts(spec *pipeline.Spec, e edition) {
	spec.Aggregates["accounts"] = bounded(e, "line",
		pipeline.AggregateSpec{Since: 1, By: map[string]string{"account": "{line}"}, MovedBy: "put"})
}

func accountKey(number string) string { return "A#accounts#1#0#" + number + "|-" }

// transferred returns the cents of a line. Where lines move accounts, about a third of them take
// from theirs. Where nothing goes wrong, none does.
func (w *byPut) transferred(cents int64) int64 {
	switch {
	case !w.plan.Transfers:
		return cents
	case w.plan.Still:
		return max(cents, -cents)
	}
	return cents - 250
}

// taking lists the totals with a bound that an order takes from, and how much.
func (w *byPut) taking(f model.Fact) map[string]int64 {
	list := w.takenBy(f)
	if f.Type == "order" {
		for _, line := range f.LineFacts() {
			maps.Copy(list, w.takenBy(line))
		}
	}
	return list
}

// takenBy lists what a single item takes: an order without its lines, or a line.
func (w *byPut) takenBy(f model.Fact) map[string]int64 {
	list := map[string]int64{}
	switch {
	case w.plan.Put == 0:
	case f.Type == "order":
		list[balanceKey(w.plan.Put, f.Merchant)] = -f.Cents
	case f.Type == "line" && w.plan.Transfers:
		_, number := f.WholeID()
		list[accountKey(number)] = -f.Cents
	}
	maps.DeleteFunc(list, func(_ string, cents int64) bool { return cents <= 0 })
	return list
}

// takeMore makes about half of the orders take from the balance. Where nothing goes wrong, no order
// does, so that none is rejected.
func (w *byPut) takeMore(f *model.Fact) {
	switch {
	case w.plan.Put == 0 || f.Type != "order":
	case w.plan.Still:
		f.Cents = max(f.Cents, -f.Cents)
	default:
		f.Cents -= 700
	}
}

func balanceKey(since int64, merchant string) string {
	return fmt.Sprintf("A#balance#%d#0#%s|-", since, strings.ReplaceAll(merchant, "#", "%23"))
}

// checkBound checks a balance that was written. An order may not bring it beyond its bound. A
// removal by a person may, and then the total is flagged.
func (w *byPut) checkBound(s *model.Slot) {
	if !s.Bounded() {
		return
	}
	took, removed, taken := s.Took, s.Removed, s.Taken
	s.Took, s.Removed, s.Taken = 0, false, false
	w.model.Note(s)
	switch beyond := s.Left() < 0; {
	case !beyond:
	case taken:
		w.Fail(Overdrawn, "%s was taken from, and stands at %d", s.Key, s.Left())
	case removed && took < 0:
		s.Flagged = true
	}
	if taken && w.plan.Put > 1 && !w.builtSince(w.Now.Add(-believed)) {
		w.Fail(Overdrawn, "%s was taken from, and it lacks older orders", s.Key)
	}
}

// undeservedRejection returns why a message may not be Rejected. It returns an empty text if it
// may. If its items are put one after the other, it may be Rejected for any one of them.
func (w *byPut) undeservedRejection(inv *invocation, m *message) (why string) {
	if w.plan.Atomic || !w.plan.Transfers {
		return w.undeservedRefusal(inv, m, m.fact, w.taking(m.fact), w.wholes.itemsOf(m, inv.epoch))
	}
	for _, f := range w.wholes.itemsOf(m, inv.epoch) {
		one := w.undeservedRefusal(inv, m, f, w.takenBy(f), []model.Fact{f})
		if one == "" {
			return ""
		}
		why += f.Key() + ": " + one + "; "
	}
	return why
}

// undeservedRefusal returns why a total may not refuse the transaction that puts these items of a
// message, the first of which is f.
func (w *byPut) undeservedRefusal(inv *invocation, m *message, f model.Fact, taking map[string]int64, items []model.Fact) string {
	switch {
	case len(taking) == 0 || inv.epoch < w.plan.Put:
		return "it takes nothing from a total with a bound"
	case !w.builtDuring(inv):
		return "older orders are not in its balance yet"
	case !slices.ContainsFunc(items, func(f model.Fact) bool {
		return f.Type != "shelf" && w.verdicts.heldUnder(inv, f.Key(), func(img *model.Image) bool { return img == nil })
	}):
		return "its key was never free"
	case w.mayStillLand(inv, m, f):
		return stillUnderWay
	}
	why := ""
	for _, key := range sortedKeys(taking) {
		low := w.model.Lowest(key, inv.began)
		if low < taking[key] {
			return ""
		}
		why += fmt.Sprintf("%s was %d or more, and it takes %d; ", key, low, taking[key])
	}
	return why
}

const stillUnderWay = "a try of it got no answer, and may still be carried out"

// mayStillLand reports whether a try of a message's item got no answer. It is false if the try may
// have been of another copy.
func (w *byPut) mayStillLand(inv *invocation, m *message, f model.Fact) bool {
	return inv.unanswered[fmt.Sprintf("%s %x", f.PK(), f.Digest())] && !w.severally(inv, m)
}

// severally reports whether the invocation may try copies of a message's event in turn.
func (w *byPut) severally(inv *invocation, of *message) bool {
	n := 0
	for m := range w.arrays.eventsOf(inv) {
		if !m.malformed && m.fact == of.fact {
			n++
		}
	}
	return inv.copies > 1 && n > 1
}

// answered notes the events of a request that has no answer.
func (w *byPut) answered(in any, err error) {
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		w.noteUnanswered(err, in.Item)
	case *dynamodb.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			w.noteUnanswered(err, itemInserted(s))
		}
	case *dynamodb.TransactWriteItemsInput:
		w.noteUnanswered(err, itemsPut(in)...)
	}
}

// noteUnanswered remembers items whose put got no answer.
func (w *byPut) noteUnanswered(err error, items ...map[string]types.AttributeValue) {
	inv := invocationOf(w.Current)
	if inv == nil || !errors.Is(err, stage.ErrLost) && !errors.Is(err, errHung) && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	for _, item := range items {
		inv.unanswered[text(item["PK"])+" "+text(item["digest"])] = true
	}
}

// itemsPut returns the items that a transaction puts.
func itemsPut(in *dynamodb.TransactWriteItemsInput) (items []map[string]types.AttributeValue) {
	for _, item := range in.TransactItems {
		if item.Put != nil {
			items = append(items, item.Put.Item)
		}
	}
	return items
}

// itemInserted returns the item of a statement like INSERT INTO "events" VALUE {'PK': ?, 'SK': ?}.
// It is empty for an update.
func itemInserted(s types.BatchStatementRequest) map[string]types.AttributeValue {
	item, names := map[string]types.AttributeValue{}, strings.Split(*s.Statement, "'")
	for i := 1; i < len(names); i += 2 {
		item[names[i]] = s.Parameters[i/2]
	}
	return item
}

// putAttribute returns what an item must say about the put that has counted it.
func (w *byPut) putAttribute(c *model.Change) streamtypes.AttributeValue {
	switch {
	case c.Old != nil:
		return c.Old.Whole["i:put"]
	case w.plan.Put == 0 || c.New.Type != "order" && (c.New.Type != "line" || !w.plan.Transfers) || c.New.Epoch < w.plan.Put:
		return nil
	}
	return &streamtypes.AttributeValueMemberN{Value: fmt.Sprint(c.New.Epoch)}
}

// checkPut checks what an item says about the put that has counted it, and whether it says so. It
// also measures how often a late try stores what a later delivery has rejected.
func (w *byPut) checkPut(c *model.Change) (says bool) {
	want, has := w.putAttribute(c), c.New.Whole["i:put"]
	if model.ValueOf(want) != model.ValueOf(has) || has != nil && model.KindOf(has) != "N" {
		w.Fail(Altered, "%s was counted by the put of epoch %q, and says %q", c.New.Key(), model.ValueOf(want), model.ValueOf(has))
	}
	if c.Old == nil && w.verdicts.rejected[c.New.Fact] && w.Current != nil && strings.HasPrefix(w.Current.Name, "late ") {
		w.stats.Resurrected++
	}
	return has != nil
}

// headState is what the head of the balances says from a time on, where they begin with the second
// epoch.
type headState struct {
	at       time.Time
	building bool // older orders are not in them yet
}

// believed is how long ago a function may have read that the balances are complete, and still let
// an order take from one. It believes what it has read for five minutes. Its request and the
// order's may be slow, and the order's late.
const believed = 5*time.Minute + functionTimeout + 2*onItsWay

// noteHead remembers what the head of the balances says.
func (w *byPut) noteHead(pk, sk string) {
	if w.plan.Put > 1 && strings.HasPrefix(pk, "G#balance#") {
		building, is := w.read(totals, pk, sk)["building"].(*types.AttributeValueMemberBOOL)
		w.heads = append(w.heads, headState{w.Now, is && building.Value})
	}
}

// building reports whether the balances lack older orders.
func (w *byPut) building() bool { return len(w.heads) > 0 && w.heads[len(w.heads)-1].building }

// builtSince reports whether the balances were complete at some moment since a time.
func (w *byPut) builtSince(at time.Time) bool {
	for i, h := range w.heads {
		if !h.building && (i == len(w.heads)-1 || w.heads[i+1].at.After(at)) {
			return true
		}
	}
	return false
}

// builtDuring reports whether the balances were complete at some moment of an invocation. Where
// they begin with the first epoch, they always are.
func (w *byPut) builtDuring(inv *invocation) bool {
	return w.plan.Put == 1 || slices.ContainsFunc(w.heads[max(0, inv.heads-1):], func(h headState) bool { return !h.building })
}

// waits reports whether an order may have to come again because the balances lacked older orders at
// some moment of an invocation.
func (w *byPut) waits(inv *invocation, f model.Fact) bool {
	return w.plan.Put > 1 && inv.epoch >= w.plan.Put && len(w.taking(f)) > 0 &&
		(inv.heads == 0 || slices.ContainsFunc(w.heads[inv.heads-1:], func(h headState) bool { return h.building }))
}

// keepBuilding lets a person rebuild whenever orders wait for it, until the returned function is
// called. Without that, the world could not come to rest at the end.
func (w *byPut) keepBuilding() (stop func()) {
	if w.plan.Put < 2 || !w.deployed("ingest") {
		return func() {}
	}
	idle := false
	wait := func(ready func() bool) {
		idle = true
		w.asleep++
		w.Park(time.Time{}, ready)
		w.asleep--
		idle = false
	}
	keeper := w.Spawn("keeper", nil, func() {
		for {
			wait(func() bool { return w.building() && w.dead.depth(w.ingot.Queue) > 0 })
			if !w.operators.rebuild(w.client()) {
				w.Sleep(time.Minute)
			}
		}
	})
	return func() {
		if w.Kill(keeper); idle {
			w.asleep--
		}
	}
}
