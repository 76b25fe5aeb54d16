package sim

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

type (
	// Check names one promise.
	Check = stage.Check
	// Failure is a broken promise.
	Failure = stage.Failure
)

// These are the promises that every world checks.
const (
	Lost       Check = "lost"        // an acknowledged message is in neither table nor quarantine
	Rewritten  Check = "rewritten"   // an item differs from the first (insert) or newest (latest) event of its key
	Reinserted Check = "reinserted"  // a key was inserted twice, and no person caused that
	Miscounted Check = "miscounted"  // an aggregate item is not the sum of what its marks or receipts say
	Twice      Check = "twice"       // a receipt was written for a change that was counted before
	Uncounted  Check = "uncounted"   // drained, and a change is not counted
	Wrong      Check = "wrong-total" // drained, and verify finds a difference
	Order      Check = "order"       // a FIFO group was overtaken
	Expiry     Check = "expiry"      // an item or an aggregate item has the wrong expiry, or is written past its time
	Altered    Check = "altered"     // an item is not what its event makes of it
	Unarchived Check = "unarchived"  // an item expired and is not in the archive, or the archive has something else
	Cost       Check = "cost"        // more write units than promised
	Returned   Check = "returned"    // an event that was erased is still there, or can come back
	Unkept     Check = "unkept"      // what cannot be counted is not in quarantine, or no flag says so
	Misjudged  Check = "misjudged"   // verify --twice calls a total damaged that is not, or does not call a damaged one so
	Misread    Check = "misread"     // an answer to a pattern has what it must not, lacks what it must have, or is not in order
	Parted     Check = "parted"      // a part is stored without its whole, or missing beside it
	Overdrawn  Check = "overdrawn"   // an event has brought a total beyond its bound
	Shared     Check = "shared"      // a unique value is free while an event that has it is stored
	Required   Check = "required"    // an event is stored, and another one that it requires was not

	Afterwards = stage.Afterwards
	Denied     = stage.Denied
	Undeserved = stage.Undeserved
	Generation = stage.Generation
	Stuck      = stage.Stuck
	Broken     = stage.Broken
)

// Checks lists the promises that a wrong design can be the first to break. Broken is not in the
// list, because it is a failure of the world itself.
func Checks() []Check {
	return []Check{Lost, Rewritten, Reinserted, Miscounted, Twice, Uncounted, Wrong, Order, Expiry, Altered, Undeserved, Afterwards,
		Unarchived, Generation, Stuck, Cost, Returned, Unkept, Misjudged, Misread, Parted, Shared, Overdrawn, Required}
}

// wrote checks all changes of the last request.
func (w *World) wrote() {
	w.observe()
	for _, pk := range w.newReceipts {
		w.checkReceipt(pk)
	}
	w.newReceipts = w.newReceipts[:0]
	for _, key := range w.touched {
		w.checkSlot(key)
	}
	w.touched = w.touched[:0]
	for _, s := range w.damage.damaged {
		if len(s.Waiting) > 0 {
			w.damage.checkDamaged(s)
		}
	}
}

// written is a stream record as the engine wrote it.
type written struct {
	shard  string
	record streamtypes.Record
}

// observe reads what was written to the stream since it was last called.
func (w *World) observe() {
	for _, r := range w.written {
		w.stream.Idle = 0 // the stream has a new record
		w.record(r.shard, r.record)
	}
	clear(w.written)
	w.written, w.people.removing = w.written[:0], ""
}

func (w *World) record(shard string, r streamtypes.Record) {
	w.shards[shard] = true
	if w.trouble.odd(r) {
		return
	}
	c, err := w.model.Record(shard, r)
	if err != nil {
		w.Fail(Broken, "record of %s: %v", shard, err)
		return
	}
	if c == nil {
		return
	}
	if w.Trace != nil {
		w.Tracef("%s of ...%s", c, shard[len(shard)-8:])
	}
	w.claims.checkClaim(c)
	if w.stuck.noteStranded(c, *r.Dynamodb.SequenceNumber) {
		return
	}
	if c.Old != nil && c.Old.Barred || c.New != nil && c.New.Barred {
		w.erasures.checkBar(c)
		return
	}
	if c.New == nil {
		return
	}
	w.verdicts.accept(c)
	h := w.model.History(c.New.Key())
	// A parcel or a state may be inserted again: an older revision may expire later than the newest
	// one did. A coupon may be claimed for another order.
	latest := c.New.Type == "parcel" || c.New.Type == "shelf"
	if h.Inserts > 1 && !h.Removed && !latest && c.New.Type != "coupon" {
		w.Fail(Reinserted, "%s was inserted %d times", c.New.Key(), h.Inserts)
	}
	if c.Old != nil {
		switch {
		case !latest && c.Old.Fact != c.New.Fact:
			w.Fail(Rewritten, "%s was %+v and is %+v", c.New.Key(), c.Old.Fact, c.New.Fact)
		case latest && (c.Old.Newer(c.New.Fact) || !c.New.Newer(c.Old.Fact) && c.New.Fact != c.Old.Fact):
			w.Fail(Rewritten, "%s went from revision %d/%d to %d/%d", c.New.Key(), c.Old.Rev, c.Old.Cents, c.New.Rev, c.New.Cents)
		}
	}
	w.checkStored(c)
	w.wholes.checkWhole(c)
	w.requires.checkRequired(c)
	w.states.checkBeside(c)
	w.wholes.checkAtomic(c)
	w.checkGroup(c.New.Fact)
}

// checkReceipt counts the change for which a receipt was written.
func (w *World) checkReceipt(pk string) {
	c := w.model.Receipts[pk]
	switch {
	case c == nil:
		w.Fail(Miscounted, "a receipt was written for no change of the stream: %s", pk)
	case c.Counted:
		w.Fail(Twice, "change %s of %s was counted twice", c.Seq, pk)
	default:
		c.Counted = true
		for _, s := range c.Steps {
			s.Apply()
		}
	}
}

// checkSlot compares an aggregate item with the changes that its marks or receipts say it counts.
func (w *World) checkSlot(key string) {
	s := w.model.Slots[key]
	if s == nil {
		w.Fail(Miscounted, "%s was written and nothing contributes to it", key)
		return
	}
	pk, sk, _ := strings.Cut(key, "|")
	item := w.read(totals, pk, sk)
	if w.model.Marks {
		w.advance(s, item)
	}
	if got := number(item["expiresAt"]); got.Int64() != s.ExpiresAt {
		w.Fail(Expiry, "%s expires at %s, not %d", s.Key, got, s.ExpiresAt)
	}
	if s.Mended {
		s.Mended = false
		w.model.Mend(s)
	}
	w.byPut.checkBound(s)
	if !s.Damaged && (!s.Unmarked || s.ByPut || s.Applied == s.Steps) {
		w.compare(s, item)
	}
}

// advance applies the steps that the item's marks have passed since it was last looked at. An item
// without any mark comes from a design that keeps its marks in another way. Such an item is judged
// once the world is drained.
func (w *World) advance(s *model.Slot, item map[string]types.AttributeValue) {
	s.Unmarked = true
	for name, v := range item {
		if !strings.HasPrefix(name, "m:") {
			continue
		}
		s.Unmarked = false
		l := s.Lanes[name]
		if l == nil {
			w.Fail(Miscounted, "%s has mark %s of a lane that never touched it", s.Key, name)
			return
		}
		mark := model.Pad(new(big.Int).SetBytes(v.(*types.AttributeValueMemberB).Value[:17]).String())
		for l.Applied < len(l.Steps) && l.Steps[l.Applied].Seq <= mark {
			l.Steps[l.Applied].Apply()
			l.Applied++
		}
	}
}

func (w *World) compare(s *model.Slot, item map[string]types.AttributeValue) {
	if got := number(item["n"]); got.Cmp(big.NewInt(s.N)) != 0 {
		w.Fail(Miscounted, "%s: n is %s, its marks and receipts say %d", s.Key, got, s.N)
	}
	if got := number(item["fp"]); got.Cmp(s.FP) != 0 {
		w.Fail(Miscounted, "%s: fp is %s, its marks and receipts say %s", s.Key, got, s.FP)
	}
	if got := number(item["fpx"]); got.Cmp(s.FPX) != 0 {
		w.Fail(Miscounted, "%s: fpx is %s, its marks and receipts say %s", s.Key, got, s.FPX)
	}
	for name, want := range s.Values {
		if got := number(item[name]); got.Cmp(big.NewInt(want)) != 0 {
			w.Fail(Miscounted, "%s: %s is %s, its marks and receipts say %d", s.Key, name, got, want)
		}
	}
	for _, extremes := range []map[string]int64{s.Max, s.Min} {
		for name, want := range extremes {
			if got := number(item[name]); item[name] == nil || got.Cmp(big.NewInt(want)) != 0 {
				w.Fail(Miscounted, "%s: %s is %s, its marks and receipts say %d", s.Key, name, got, want)
			}
		}
	}
	for name, want := range s.Sketches {
		if got, is := item[name].(*types.AttributeValueMemberB); !is || string(got.Value) != model.SketchText(want) {
			w.Fail(Miscounted, "%s: %s is not the sketch of what its marks and receipts say", s.Key, name)
		}
	}
	for name, want := range s.Texts {
		if got, is := item[name].(*types.AttributeValueMemberS); !is || got.Value != want {
			w.Fail(Miscounted, "%s: %s is %v, its marks and receipts say %q", s.Key, name, item[name], want)
		}
	}
	var place string
	if v, is := item["i:rank"].(*types.AttributeValueMemberS); is {
		place = v.Value
	}
	if place != s.Place() {
		w.Fail(Miscounted, "%s is in %q of the index, and belongs in %q", s.Key, place, s.Place())
	}
	for name, v := range item {
		if _, ok := v.(*types.AttributeValueMemberN); ok && !s.Has(name) {
			w.Fail(Miscounted, "%s has %s, which nothing gives it", s.Key, name)
		}
	}
	if flagged := item["flag"] != nil; flagged != s.Flagged {
		w.Fail(Miscounted, "%s: flagged is %v, its marks and receipts say %v", s.Key, flagged, s.Flagged)
	}
}

// text returns a string, a number, or bytes in hex.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("%x", v.Value)
	}
	return fmt.Sprintf("%T", v)
}

func number(v types.AttributeValue) *big.Int {
	n := new(big.Int)
	if v, ok := v.(*types.AttributeValueMemberN); ok {
		n.SetString(v.Value, 10)
	}
	return n
}

// acknowledged checks a message that is about to be deleted from the queue.
func (w *World) acknowledged(body string) {
	w.stats.Acknowledged++
	m := w.sent[body]
	if m == nil {
		w.Fail(Broken, "a message was deleted that nobody sent: %s", body)
		return
	}
	if why := w.unsettled(m); why != "" {
		w.Fail(Lost, "%s was acknowledged, and %s", body, why)
	}
}

// unsettled returns why a message is not done with. It returns an empty text if the message is done
// with.
func (w *World) unsettled(m *message) string {
	if m.events != nil {
		for _, e := range m.events {
			if why := w.unsettled(e); why != "" {
				return "of its event " + e.body + ": " + why
			}
		}
		return ""
	}
	if w.isKept(m) || m.unwanted() {
		return ""
	}
	if m.malformed {
		return "it is not in quarantine"
	}
	h := w.model.Keys[m.fact.Key()]
	switch {
	case h == nil:
		return "nothing of its key was ever stored, and it is not in quarantine"
	case h.Barred:
		return ""
	case h.Facts[m.fact]:
		return w.wholes.unsettledParts(m)
	case m.fact.Type == "parcel" && h.Newest.Newer(m.fact):
		return ""
	case h.Live != nil:
		return fmt.Sprintf("%+v is stored, and it is not in quarantine", h.Live.Fact)
	}
	return "its key held something else, and it is not in quarantine"
}

// isKept reports whether a message, or the array of an event, is in quarantine, or a person keeps
// it.
func (w *World) isKept(m *message) bool {
	return m.kept || m.of == nil && w.quarantined[m.body]+w.dead.byHand[m.body] > 0
}

// checkGroup checks that a FIFO group stores nothing before everything ahead of it is settled.
func (w *World) checkGroup(f model.Fact) {
	if !w.plan.FIFO || f.IsPart() { // parts are put with their whole
		return
	}
	m := w.firstSent[f]
	if m == nil {
		w.Fail(Broken, "something was stored that nobody sent: %+v", f)
		return
	}
	for _, earlier := range w.groups[m.group] {
		if earlier.fact == f {
			return
		}
		if why := w.unsettled(earlier); why != "" && !w.arrays.passedBy(earlier, m) {
			w.Fail(Order, "%s was stored before %s of its group was done with: %s", m.body, earlier.body, why)
			return
		}
	}
}
