package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/handler"
)

// What an invocation says of a message must be so. Nothing here looks at how it came to say it: what its key
// held since the invocation began is all that it can have seen.

// judge checks one outcome as the handler tells it.
func (w *World) judge(o handler.Outcome) {
	verdict := o.Verdict.String()
	w.stats.Verdicts[verdict]++
	inv, m := w.current.invocation(), w.sent[o.Message.Body]
	if inv == nil || m == nil {
		w.fail(Broken, "a verdict on a message that nobody sent: %s", o.Message.Body)
		return
	}
	if why := w.undeserved(inv, m, verdict); why != "" {
		w.fail(Undeserved, "%s says %s of %s, but %s", inv.name, verdict, m.body, why)
		return
	}
	switch verdict {
	case "Inserted", "Updated":
		inv.wrote[write{m.fact, verdict}]-- // each write is one message's
	case "Conflict":
		if o.Existing != nil && !w.held(inv, m, func(img *image) bool { return img != nil && img.data == o.Existing.Data }) {
			w.fail(Undeserved, "%s shows what %s conflicts with, but its key never held that: %s", inv.name, m.body, o.Existing.Data)
		}
	}
	if settled := slices.Contains([]string{"Inserted", "Updated", "Duplicate", "Stale"}, verdict); (settled && o.Failed) || (verdict == "Retry" && !o.Failed) {
		w.fail(Undeserved, "%s says %s of %s; that it goes back is %v", inv.name, verdict, m.body, o.Failed)
	}
}

// write is one event's write that an invocation has had accepted, and the verdict it earns.
type write struct {
	fact    fact
	verdict string
}

// accept notes a write for the invocation that is behind it.
func (w *World) accept(c *change) {
	inv := w.current.invocation()
	switch {
	case inv == nil, inv.wrote == nil:
	case c.old == nil:
		inv.wrote[write{c.new.fact, "Inserted"}]++
	case c.old.fact != c.new.fact:
		inv.wrote[write{c.new.fact, "Updated"}]++
	}
}

// held reports whether the message's key has held such an image at some moment of the invocation.
func (w *World) held(inv *invocation, m *message, such func(*image) bool) bool {
	return slices.ContainsFunc(w.model.keys[m.fact.key()].during(inv.began), such)
}

// undeserved says why a verdict is not what the message's key, its time or its text call for; empty if it is.
func (w *World) undeserved(inv *invocation, m *message, verdict string) string {
	parcel := m.fact.Type == "parcel"
	switch {
	case verdict == "Retry":
		return ""
	case m.malformed != (verdict == "Poison"):
		return "Poison is for what cannot be read, and for that alone"
	case m.malformed:
		return ""
	}
	switch verdict {
	case "Inserted", "Updated":
		if inv.wrote[write{m.fact, verdict}] < 1 {
			return "it has had no such write accepted"
		}
	case "Duplicate":
		if !w.held(inv, m, func(img *image) bool { return img != nil && img.fact == m.fact }) {
			return "its key never held that event"
		}
	case "Stale":
		if !parcel || !w.held(inv, m, func(img *image) bool { return img != nil && img.Rev > m.fact.Rev }) {
			return "its key never held a newer revision"
		}
	case "Conflict":
		if !w.held(inv, m, func(img *image) bool { return img != nil && img.fact != m.fact && (!parcel || img.Rev == m.fact.Rev) }) {
			return "its key never held another event in its place"
		}
	case "Expired":
		if end := m.fact.at().Add(retain); w.now.Before(end.Add(-early)) {
			return fmt.Sprintf("it expires %s from now", end.Sub(w.now))
		}
		if !w.held(inv, m, func(img *image) bool { return img == nil || parcel && img.Rev < m.fact.Rev }) {
			return "its key held it, or what stands in its place"
		}
	default:
		return "there is no such verdict"
	}
	return ""
}

// reasons are why a message may be in quarantine, by verdict.
var reasons = map[string]string{"Conflict": "digest-differs", "Expired": "past-expiry", "Poison": "undecodable"}

// note is what stands beside a letter.
type note struct{ Verdict, Reason, Detail, PK, SK string }

// checkLetter checks a letter on its way to quarantine: it is a message of its invocation, to the letter, and
// says rightly why it is there.
func (w *World) checkLetter(letter *sqstypes.SendMessageBatchRequestEntry) {
	inv, body := w.current.invocation(), *letter.MessageBody
	if inv == nil {
		w.fail(Broken, "a letter that no invocation sends: %s", body)
		return
	}
	if strings.Contains(body, `"sequenceNumbers":[`) {
		return // about records of the stream
	}
	beside, ok := letter.MessageAttributes["ingot"]
	is := func(r events.SQSMessage) bool {
		return r.Body == body && len(letter.MessageAttributes) == len(r.MessageAttributes)+1
	}
	if !ok || beside.StringValue == nil || !slices.ContainsFunc(inv.messages, is) {
		w.fail(Undeserved, "%s sends a letter that is none of its messages with a note: %s", inv.name, body)
		return
	}
	var n note
	if err := json.Unmarshal([]byte(*beside.StringValue), &n); err != nil {
		w.fail(Undeserved, "%s: the note beside %s: %v", inv.name, body, err)
		return
	}
	m := w.sent[body]
	key := note{PK: m.fact.pk(), SK: m.fact.sk()}
	if m.malformed {
		key = note{}
	}
	why := w.undeserved(inv, m, n.Verdict)
	switch {
	case why != "":
	case n.Reason == "" || n.Reason != reasons[n.Verdict]:
		why = "that is no reason for it"
	case n.Detail == "":
		why = "it has no detail"
	case n.PK != key.PK || n.SK != key.SK:
		why = "it has another key"
	}
	if why != "" {
		w.fail(Undeserved, "%s sends %s to quarantine with the note %s, but %s", inv.name, body, *beside.StringValue, why)
	}
}
