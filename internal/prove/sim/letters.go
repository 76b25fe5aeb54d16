package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// notes are what a letter to quarantine says, and whether that is true.
type notes struct {
	*World
}

// sender is the quarantine queue as an invocation reaches it. It checks what is sent there.
type sender struct {
	w     *World
	epoch int64 // of the code that sends
}

func (s sender) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput,
	error) {
	if ofStream(*in.Entries[0].MessageBody) {
		s.w.trouble.worse()
	}
	out, err := stage.Request(&s.w.World, ctx, "SendMessageBatch", false, nil, func() (*sqs.SendMessageBatchOutput, error) {
		for i := range in.Entries {
			s.w.notes.checkLetter(&in.Entries[i])
		}
		return s.w.FailLetters(in, s.w.plan.Faults.Letters, !s.w.Calm && s.w.Now.Before(s.w.trouble.choosy), s.send)
	})
	if err == nil {
		s.w.notes.proven(in, out)
	}
	return out, err
}

// proven notes the letters of which an invocation has been told that they are kept. It has no
// reason to send them again.
func (w *notes) proven(in *sqs.SendMessageBatchInput, out *sqs.SendMessageBatchOutput) {
	inv := invocationOf(w.Current)
	for _, taken := range out.Successful {
		if letter := letterOf(in, *taken.Id); inv != nil && letter != nil {
			inv.kept[*letter.MessageBody]++
		}
	}
}

func letterOf(in *sqs.SendMessageBatchInput, id string) *sqstypes.SendMessageBatchRequestEntry {
	for i := range in.Entries {
		if *in.Entries[i].Id == id {
			return &in.Entries[i]
		}
	}
	return nil
}

// send sends letters, and remembers those that the queue reports as accepted.
func (s sender) send(in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
	out, err := s.w.ingot.Engine.SQS().SendMessageBatch(s.w.Sent(), in)
	if err != nil {
		return nil, err
	}
	for _, taken := range out.Successful {
		if letter := letterOf(in, *taken.Id); letter != nil {
			s.w.quarantined[*letter.MessageBody]++
			if beside := letter.MessageAttributes["ingot"].StringValue; beside != nil {
				s.w.sent[*letter.MessageBody].keep(*beside)
			}
			s.w.trouble.letters.take(*letter.MessageBody, s.epoch)
		}
	}
	return out, nil
}

// reasons lists, by verdict, why a message may be in quarantine.
var reasons = map[string]string{"Conflict": "digest-differs", "Expired": "past-expiry", "Rejected": "below-floor", "Poison": "undecodable"}

// note is what a letter says beside the message.
type note struct {
	Verdict, Reason, Detail, PK, SK string
	Events                          []string
}

// checkLetter checks a letter on its way to quarantine. It must be an unchanged message of its
// invocation, and must give the right reason.
func (w *notes) checkLetter(letter *sqstypes.SendMessageBatchRequestEntry) {
	inv, body := invocationOf(w.Current), *letter.MessageBody
	if inv == nil {
		w.Fail(Broken, "a letter that no invocation sends: %s", body)
		return
	}
	if ofStream(body) {
		w.trouble.checkRecordLetter(body)
		return
	}
	beside := letter.MessageAttributes["ingot"]
	if beside.StringValue == nil || !slices.ContainsFunc(inv.messages, func(m events.SQSMessage) bool { return isLetter(letter, &m) }) {
		w.Fail(Undeserved, "%s sends a letter that is not one of its messages with a note: %s", inv.Name, body)
		return
	}
	due := 0
	for i := range inv.messages {
		if inv.messages[i].Body == body {
			due++
		}
	}
	if inv.kept[body] >= due {
		w.Fail(Cost, "%s has %d messages %s, knows that as many letters are kept, and sends one more", inv.Name, due, body)
	}
	if why := w.unjustified(inv, w.sent[body], *beside.StringValue); why != "" {
		w.Fail(Undeserved, "%s sends %s to quarantine with the note %s, but %s", inv.Name, body, *beside.StringValue, why)
	}
}

// isLetter reports whether a letter is the message with its attributes, and a note.
func isLetter(letter *sqstypes.SendMessageBatchRequestEntry, m *events.SQSMessage) bool {
	if m.Body != *letter.MessageBody || len(letter.MessageAttributes) != len(m.MessageAttributes)+1 {
		return false
	}
	for name, a := range m.MessageAttributes {
		b := letter.MessageAttributes[name]
		if aws.ToString(b.DataType) != a.DataType || aws.ToString(b.StringValue) != aws.ToString(a.StringValue) ||
			!bytes.Equal(b.BinaryValue, a.BinaryValue) {
			return false
		}
	}
	return true
}

// unjustified returns what is wrong with the note beside a message. It returns an empty text if
// nothing is wrong.
func (w *notes) unjustified(inv *invocation, m *message, text string) string {
	var n note
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err.Error()
	}
	if m.events != nil {
		return w.arrays.unjustifiedArray(inv, m, n)
	}
	return w.unjustifiedEvent(inv, m, n)
}

// unjustifiedEvent returns what is wrong with a note about an event.
func (w *notes) unjustifiedEvent(inv *invocation, m *message, n note) string {
	names := func(f model.Fact) bool { return n.PK == f.PK() && n.SK == f.SK() && !m.malformed }
	why, reason := w.verdicts.undeserved(inv, m, n.Verdict), reasons[n.Verdict]
	switch {
	case n.Verdict == "Rejected" && m.fact.After != "":
		reason = "requires"
	case n.Verdict == "Rejected" && w.plan.Ceiling:
		reason = "above-ceiling"
	}
	switch m.carried() {
	case notAnObject:
		reason = "not-an-object"
	case noEvents:
		reason = "no-events"
	}
	switch {
	case why != "":
		return why
	case n.Verdict == "Conflict" && strings.HasPrefix(n.PK, "COUPON#"):
		if n.Reason != "claimed" {
			return "another order has the coupon"
		}
		w.Faults[taken]++
	case n.Events != nil:
		return "it names events, and the message is not an array"
	case n.Reason == "" || n.Reason != reason:
		return "that is not a reason for it"
	case n.Detail == "" || reason == "requires" && !strings.Contains(n.Detail, m.fact.Needs().PK()):
		return "it says nothing more"
	case !slices.ContainsFunc(w.wholes.itemsOf(m, inv.epoch), names) && (!m.malformed || n.PK+n.SK != ""):
		return "it names another key"
	}
	return ""
}
