package handler

import (
	"strconv"

	"github.com/ingot-events/ingot/event"
)

// patience is the number of deliveries within which an event that another one requires may still
// come. It may be on its way, or its own first delivery may have failed.
const patience = 3

// await lets a message come again if an event that it requires is not stored yet. A FIFO queue does
// not wait: what has to come first is before it in its group.
func (o *Outcome) await() {
	if o.Verdict != event.Rejected || o.Refusal.Reason != event.Requires {
		return
	}
	if n, err := strconv.Atoi(o.Message.Attributes["ApproximateReceiveCount"]); err != nil || n >= patience {
		return
	}
	why := *o.Refusal
	why.Verdict, why.Detail = event.Retry, "an event that it requires is not stored yet; it is delivered again"
	o.Verdict, o.Refusal, o.Failed = event.Retry, &why, true
}
