package dev

import (
	"fmt"
	"sync"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// refusals counts the messages that went to quarantine. Its zero value is ready to use.
type refusals struct {
	mu    sync.Mutex
	count int
	told  map[event.Reason]bool
}

// add counts a message. It returns how many there are, and whether it is the first with its reason.
func (r *refusals) add(reason event.Reason) (count int, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = map[event.Reason]bool{}
	}
	first = !r.told[reason]
	r.told[reason] = true
	r.count++
	return r.count, first
}

// refused reports messages in quarantine: the first message with each reason, and the total
// whenever it is a power of ten. So somebody who sends a file of the wrong kind sees it, and the
// reports do not fill the screen.
func (d *Dev) refused(o *handler.Outcome) {
	if !o.Verdict.Quarantined() || o.Failed {
		return
	}
	why := o.Refusal
	for i := range o.Events {
		if why == nil && o.Events[i].Verdict.Quarantined() {
			why = o.Events[i].Refusal
		}
	}
	if why == nil {
		why = &event.Refusal{Verdict: o.Verdict}
	}
	count, first := d.refusals.add(why.Reason)
	if first {
		d.cfg.Tell("a message is in quarantine now: " + d.because(why))
	}
	if count == 1 {
		d.cfg.Tell("to look at it: ingot quarantine pull DIR --local, and then: ingot quarantine list DIR")
	}
	if powerOfTen(count) {
		d.cfg.Tell(fmt.Sprintf("%s messages went to quarantine since ingot dev began", show.Comma(count)))
	}
}

// because says why a message is refused.
func (d *Dev) because(why *event.Refusal) string {
	text := why.Verdict.String()
	if why.Reason != "" {
		text += " (" + string(why.Reason) + ")"
	}
	if why.Detail == "" {
		return text
	}
	return text + ": " + show.Text(excerpt.Of(show.PersonalOf(d.Pipeline()).Detail(why.Reason, why.Detail), 300))
}

// powerOfTen reports whether n is 10, 100 and so on.
func powerOfTen(n int) bool {
	for ; n >= 10 && n%10 == 0; n /= 10 {
		if n == 10 {
			return true
		}
	}
	return false
}
