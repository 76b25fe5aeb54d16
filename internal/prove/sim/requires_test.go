package sim

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

func payment() model.Fact {
	f := order(5)
	f.Type, f.ID, f.After = "payment", "2", "1"
	return f
}

// TestPayments shows what may become of a payment, for each past of the order that it requires.
func TestPayments(t *testing.T) {
	type facts = []model.Fact
	erased := func(w *World) {
		w.model.Remember(&model.Change{Old: w.model.Keys[order(1).Key()].Live, New: &model.Image{Fact: order(1), Barred: true}})
	}
	for name, c := range map[string]struct {
		before, after facts
		change        func(*World)
		brings        bool
		stored        bool // the payment may be stored
		allowed       string
	}{
		"its order never came":     {allowed: "Rejected Retry"},
		"its order was there":      {before: facts{order(1)}, stored: true},
		"its order came meanwhile": {after: facts{order(1)}, stored: true, allowed: "Rejected Retry"},
		"its batch brought it":     {after: facts{order(1)}, brings: true, stored: true},
		"its order was removed":    {before: facts{order(1), {}}, allowed: "Rejected Retry"},
		"its order is erased":      {before: facts{order(1)}, change: erased, stored: true, allowed: "Rejected Retry"},
		"its order expires": {before: facts{order(1)}, change: func(w *World) {
			w.Now = order(1).Time().Add(w.plan.retain())
		}, allowed: "Rejected Retry"},
	} {
		w, inv := judged(t, nil, nil)
		w.plan.FIFO = false
		live := func(list facts) {
			for _, f := range list {
				change := &model.Change{Old: w.model.History(order(1).Key()).Live}
				if f.ID != "" {
					change.New = &model.Image{Fact: f, ExpiresAt: f.Time().Add(w.plan.retain()).Unix()}
				}
				w.model.Remember(change)
			}
		}
		live(c.before)
		inv.began, inv.Faults = w.model.Records, 0
		if live(c.after); c.change != nil {
			c.change(w)
		}
		inv.Deadline = w.Now.Add(functionTimeout)
		if w.sent["o"] = (&message{fact: order(1)}); c.brings {
			inv.messages = []events.SQSMessage{{Body: "o"}}
		}
		got := ""
		for _, v := range []string{"Rejected", "Retry"} {
			if w.verdicts.undeserved(inv, &message{body: "p", fact: payment()}, v) == "" {
				got += " " + v
			}
		}
		if c.allowed != "" {
			c.allowed = " " + c.allowed
		}
		w.requires.checkRequired(&model.Change{New: &model.Image{Fact: payment()}})
		if stored := w.Failure == nil; got != c.allowed || stored != c.stored {
			t.Errorf("%s: allowed are%s, want%s; that it is stored is right: %v", name, got, c.allowed, stored)
		}
	}
}

// TestPatience shows after how many deliveries a payment without its order may be Rejected.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		fifo     bool
		received string
		verdict  event.Verdict
		wrong    bool
	}{
		{false, "1", event.Retry, false}, {false, "2", event.Rejected, true}, {false, "3", event.Retry, true},
		{false, "3", event.Rejected, false}, {true, "1", event.Rejected, false}, {true, "1", event.Retry, true},
	} {
		w, inv := judged(t, nil, nil)
		w.plan.FIFO = c.fifo
		w.requires.checkPatience(inv, &message{}, handler.Outcome{Verdict: c.verdict, Refusal: &event.Refusal{Reason: event.Requires},
			Message: &events.SQSMessage{Attributes: map[string]string{"ApproximateReceiveCount": c.received}}})
		if wrong := w.Failure != nil; wrong != c.wrong {
			t.Errorf("%+v: %v", c, w.Failure)
		}
	}
}

// TestGone shows whose orders payments are made of that nothing counts any more.
func TestGone(t *testing.T) {
	w, _ := judged(t, []model.Fact{order(1)}, nil)
	live := w.model.Keys[order(1).Key()].Live
	live.ExpiresAt = w.Now.Add(time.Hour).Unix()
	if got := w.requires.gone(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	w.Now = w.Now.Add(time.Hour)
	if got := w.requires.gone(); len(got) != 1 || got[0] != "1" {
		t.Errorf("an expired one: %v", got)
	}
}
