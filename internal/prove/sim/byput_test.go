package sim

import (
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// TestCheckFloor shows when a balance may stand below its floor: after a removal, which flags it,
// and never because of an order that takes from it.
func TestCheckFloor(t *testing.T) {
	for name, test := range map[string]struct {
		puts    []int64
		removes int64 // cents of an order that a person removes; 0: none
		want    Check
		flagged bool
	}{
		"taken from, and above the floor": {[]int64{500, -500}, 0, "", false},
		"taken from, and below the floor": {[]int64{500, -501}, 0, Overdrawn, false},
		"a removal brings it below":       {[]int64{500}, 501, "", true},
		"a removal leaves it above":       {[]int64{500}, 400, "", false},
	} {
		w := newWorld(StillPlan(1), false)
		var s *model.Slot
		for _, cents := range test.puts {
			s = w.model.ApplyPut("A#balance#1#0#m1|-", model.Part{Values: map[string]int64{"cents": cents}})
		}
		if test.removes > 0 {
			s.Taken = false
			(&model.Step{Slot: s, N: -1, Removes: true, FP: new(big.Int), FPX: new(big.Int),
				Values: map[string]int64{"cents": -test.removes}}).Apply()
		}
		w.byPut.checkBound(s)
		if got := w.Failure; (got == nil) != (test.want == "") || got != nil && got.Check != test.want || s.Flagged != test.flagged {
			t.Errorf("%s: %v, flagged %v", name, got, s.Flagged)
		}
		w.KillAll()
	}
}

// TestUndeservedRejection shows which rejections are right.
func TestUndeservedRejection(t *testing.T) {
	taker := order(1)
	taker.Type, taker.Merchant, taker.Cents = "order", "m1", -300
	for name, test := range map[string]struct {
		change func(*World, *invocation, *model.Fact)
		want   string
	}{
		"the balance is too low":      {func(*World, *invocation, *model.Fact) {}, ""},
		"it was too low a moment ago": {func(w *World, _ *invocation, _ *model.Fact) { w.pay(1000) }, ""},
		"it was enough from the beginning": {func(w *World, inv *invocation, _ *model.Fact) {
			w.pay(1000)
			inv.began = w.model.Records + 1
		}, "A#balance#1#0#m1|- was 1100 or more"},
		"the order takes nothing": {func(_ *World, _ *invocation, f *model.Fact) { f.Cents = 0 }, "it takes nothing"},
		"the world has no floors": {func(w *World, _ *invocation, _ *model.Fact) { w.plan.Put = 0 }, "it takes nothing"},
		"the order was stored all along": {func(w *World, _ *invocation, f *model.Fact) {
			w.model.Keys[f.Key()] = &model.History{States: []model.State{{Image: &model.Image{Fact: *f}}}}
		}, "its key was never free"},
		"the code knows no floors": {func(_ *World, inv *invocation, _ *model.Fact) { inv.epoch = 0 }, "it takes nothing"},
		"the balance is being built": {func(w *World, inv *invocation, _ *model.Fact) {
			w.plan.Put, inv.epoch = 2, 2
		}, "older orders are not in"},
		"a try of it may still be under way": {func(w *World, inv *invocation, f *model.Fact) { w.unanswer(inv, *f) }, "a try of it"},
	} {
		w, inv := judged(t, nil, nil)
		w.plan.Put, inv.epoch = 1, 1
		w.pay(100)
		f := taker
		test.change(w, inv, &f)
		got := w.byPut.undeservedRejection(inv, &message{body: "b", fact: f})
		if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// pay adds to the balance of a merchant.
func (w *World) pay(cents int64) {
	w.model.ApplyPut(balanceKey(1, "m1"), model.Part{Values: map[string]int64{"cents": cents}})
}

// unanswer gives a statement that puts the item no answer.
func (w *World) unanswer(inv *invocation, f model.Fact) {
	digest := f.Digest()
	inv.Notes, inv.unanswered = inv, map[string]bool{}
	w.Current = &task{Of: &inv.Invocation}
	w.byPut.noteUnanswered(stage.ErrLost, itemInserted(types.BatchStatementRequest{
		Statement:  aws.String(`INSERT INTO "events" VALUE {'PK': ?, 'digest': ?}`),
		Parameters: []types.AttributeValue{&types.AttributeValueMemberS{Value: f.PK()}, &types.AttributeValueMemberB{Value: digest[:]}}}))
}

// TestCheckPut shows what an item must say about the put that has counted it.
func TestCheckPut(t *testing.T) {
	img := func(kind string, epoch int64, put string) *model.Image {
		f := order(1)
		f.Type, f.At = kind, stage.Origin.Format(time.RFC3339)
		out := &model.Image{Fact: f, Epoch: epoch, Whole: map[string]streamtypes.AttributeValue{}}
		if put != "" {
			out.Whole["i:put"] = &streamtypes.AttributeValueMemberN{Value: put}
		}
		return out
	}
	for name, test := range map[string]struct {
		c     model.Change
		wrong bool
	}{
		"put by code that moves totals":        {model.Change{New: img("order", 2, "2")}, false},
		"put by it, and it does not say so":    {model.Change{New: img("order", 2, "")}, true},
		"put by it, and it says another epoch": {model.Change{New: img("order", 2, "1")}, true},
		"put by older code":                    {model.Change{New: img("order", 1, "")}, false},
		"put by older code, and it says so":    {model.Change{New: img("order", 1, "1")}, true},
		"a parcel":                             {model.Change{New: img("parcel", 2, "")}, false},
		"touched":                              {model.Change{Old: img("order", 1, ""), New: img("order", 2, "")}, false},
		"touched, and it says so since":        {model.Change{Old: img("order", 1, ""), New: img("order", 2, "2")}, true},
	} {
		w := newWorld(StillPlan(1), false)
		w.plan.Put = 2
		w.byPut.checkPut(&test.c)
		must.Equal(t, w.Failure != nil, test.wrong, name, w.Failure)
		w.KillAll()
	}
}

// TestBuilt shows when a balance that begins with the second epoch is known to lack older orders:
// an invocation that saw it complete at any moment may reject an order, and one that saw it being
// built may leave the order.
func TestBuilt(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	t.Cleanup(w.KillAll)
	w.plan.Put = 2
	f := order(-5)
	check := func(when string, inv *invocation, built, waits bool) {
		t.Helper()
		inv.epoch = 2
		must.Equal(t, w.byPut.builtDuring(inv), built, when)
		must.Equal(t, w.byPut.waits(inv, f), waits, when)
		if old := (&invocation{epoch: 1, heads: inv.heads}); w.byPut.waits(old, f) || w.byPut.waits(inv, order(5)) {
			t.Errorf("%s: what takes nothing, or knows no floor, waits", when)
		}
	}
	check("nobody has started", &invocation{}, false, true)
	w.byPut.heads = append(w.byPut.heads, headState{stage.Origin, true})
	check("being built all along", &invocation{heads: 1}, false, true)
	w.byPut.heads = append(w.byPut.heads, headState{stage.Origin.Add(time.Hour), false})
	check("completed meanwhile", &invocation{heads: 1}, true, true)
	check("complete all along", &invocation{heads: 2}, true, false)
	w.byPut.heads = append(w.byPut.heads, headState{stage.Origin.Add(2 * time.Hour), true})
	check("behind since a moment ago", &invocation{heads: 2}, true, true)
	check("behind", &invocation{heads: 3}, false, true)
	for since, want := range map[time.Duration]bool{0: true, 119 * time.Minute: true, 2 * time.Hour: false} {
		must.Equal(t, w.byPut.builtSince(stage.Origin.Add(since)), want, since)
	}
}

// TestTaking shows from which totals with a floor an order takes: from the balance of its merchant,
// and from the accounts of its lines.
func TestTaking(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	t.Cleanup(w.KillAll)
	f := order(-5)
	f.Lines = "1=30,2=-40,3=-50"
	for name, c := range map[string]struct {
		put       int64
		transfers bool
		want      map[string]int64
	}{
		"nothing moves with the put":   {0, false, map[string]int64{}},
		"the floor comes later":        {2, false, map[string]int64{balanceKey(2, "m1"): 5}},
		"the balance alone":            {1, false, map[string]int64{balanceKey(1, "m1"): 5}},
		"the balance and the accounts": {1, true, map[string]int64{balanceKey(1, "m1"): 5, accountKey("2"): 40, accountKey("3"): 50}},
	} {
		w.plan.Put, w.plan.Transfers = c.put, c.transfers
		if got := w.byPut.taking(f); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	w.plan.Put, w.plan.Transfers, w.plan.Parts = 1, true, 1
	enough := "A#accounts#1#0#2|- was 60 or more, and it takes 40; "
	for i, c := range []struct {
		atomic  bool
		account int64
		lost    string // the line of which a try got no answer
		want    string
	}{
		{true, 39, "", ""},
		{true, 60, "", enough + "A#accounts#1#0#3|- was 60 or more, and it takes 50; "},
		{false, 45, "", ""},
		{false, 45, "2", ""},
		{false, 45, "3", "line/4#3: a try of it got no answer, and may still be carried out; "},
		{false, 60, "", "line/5#2: " + enough},
	} {
		w.plan.Atomic, f.Cents, f.ID = c.atomic, 5, fmt.Sprint(i)
		inv := &invocation{epoch: 1, began: w.model.Records}
		for _, line := range f.LineFacts() {
			_, number := line.WholeID()
			w.model.Slot(accountKey(number), 0).Levels = []model.Level{{Cents: c.account}}
			if number == c.lost {
				w.unanswer(inv, line)
			}
		}
		if got := w.byPut.undeservedRejection(inv, &message{fact: f}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("atomic %v, and the accounts are at %d: %q, want %q", c.atomic, c.account, got, c.want)
		}
	}
}
