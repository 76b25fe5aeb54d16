package explain

import (
	"fmt"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
)

// outcomes returns what becomes of messages in a rehearsal. If there is none, each of them is
// Retry.
func (e *Explainer) outcomes(messages []envelope.Message) []handler.Outcome {
	var list []handler.Outcome
	r, err := rehearse.New(e.Pipeline, e.Now, nil)
	if err == nil {
		list, err = r.Put(messages)
	}
	for i := 0; err != nil && i < len(messages); i++ {
		list = append(list, handler.Outcome{Verdict: event.Retry, Refusal: &event.Refusal{Verdict: event.Retry, Detail: err.Error()}})
	}
	return list
}

// ownersOf names the message or event of a batch that has taken each key.
func ownersOf(outcomes []handler.Outcome) map[event.Key]string {
	owners := map[event.Key]string{}
	take := func(o *handler.Outcome, name string) {
		if o.Verdict.Written() && o.Item != nil {
			owners[o.Item.Key] = name
		}
	}
	for i := range outcomes {
		name := fmt.Sprintf("message %d", i+1)
		take(&outcomes[i], name)
		for n := range outcomes[i].Events {
			take(&outcomes[i].Events[n], fmt.Sprintf("event %s of %s", outcomes[i].Events[n].Place, name))
		}
	}
	return owners
}

// judged takes the verdict from the outcome of a message or of an event.
func (x *Explanation) judged(o *handler.Outcome, owners map[event.Key]string) {
	x.Verdict = o.Verdict.String()
	if r := o.Refusal; r != nil {
		x.Reason, x.Detail = string(r.Reason), r.Detail
		if r.Key.PK != "" && o.Events == nil {
			x.Key = &Key{r.Key.PK, r.Key.SK}
		}
		if o.Events == nil {
			x.Type = r.Type
		}
	}
	if o.Item == nil || owners[o.Item.Key] == "" {
		return
	}
	switch owner := owners[o.Item.Key]; {
	case o.Verdict == event.Stale:
		x.Detail = owner + " has the same key and a newer revision"
	case o.Verdict == event.Duplicate:
		x.Detail = owner + " has the same key and the same digest"
	case x.Reason == string(event.DigestDiffers):
		x.Detail = owner + " has the same key and another digest"
	}
}
