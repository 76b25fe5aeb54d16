package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/explain"
)

// A look at a queue receives its messages, which hides them from others meanwhile. These constants
// bound how many are hidden and for how long, if the look cannot end it.
const (
	mostLetters = 200
	hideSeconds = 60
	emptyLooks  = 3 // a queue may answer with nothing although there is something
)

// look calls each with messages of quarantine until it returns false or there is no more. Then it
// makes all of them visible again, except those that were deleted.
func (t *Tables) look(ctx context.Context, each func(types.Message) (more bool)) (limited bool, err error) {
	if t.Quarantine == "" {
		return false, &mistake{"this stack has no quarantine queue that is known here"}
	}
	seen := map[string]string{} // receipt handles by message id
	defer func() { t.release(context.WithoutCancel(ctx), seen) }()
	for empty := 0; empty < emptyLooks; {
		out, err := t.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &t.Quarantine, MaxNumberOfMessages: 10, VisibilityTimeout: hideSeconds,
			MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp}})
		if err != nil {
			return false, fmt.Errorf("the quarantine queue cannot be read: %w", err)
		}
		if len(out.Messages) == 0 {
			empty++
			continue
		}
		for _, m := range out.Messages {
			id := aws.ToString(m.MessageId)
			_, again := seen[id]
			seen[id] = aws.ToString(m.ReceiptHandle)
			if !again && !each(m) {
				return false, nil
			}
		}
		if len(seen) >= mostLetters {
			return true, nil
		}
	}
	return false, nil
}

// release makes messages visible again. If it fails, they become visible by themselves in a minute.
func (t *Tables) release(ctx context.Context, handles map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var batch []types.ChangeMessageVisibilityBatchRequestEntry
	flush := func() {
		if len(batch) > 0 {
			_, _ = t.SQS.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &t.Quarantine, Entries: batch})
		}
		batch = nil
	}
	for _, handle := range handles {
		batch = append(batch, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(strconv.Itoa(len(batch))), ReceiptHandle: aws.String(handle), VisibilityTimeout: 0})
		if len(batch) == 10 {
			flush()
		}
	}
	flush()
}

// letters lists what is in quarantine, in groups and one by one.
func (t *Tables) letters(ctx context.Context) (*Quarantine, error) {
	out := &Quarantine{Groups: []LetterGroup{}, Letters: []LetterSummary{}, AsOf: t.now().UTC()}
	var err error
	out.More, err = t.look(ctx, func(m types.Message) bool {
		out.Letters = append(out.Letters, t.summary(m))
		return true
	})
	if err != nil {
		return nil, err
	}
	counts := map[LetterGroup]int{}
	for _, l := range out.Letters {
		counts[LetterGroup{Verdict: l.Verdict, Reason: l.Reason, Type: l.Type}]++
	}
	for g, n := range counts {
		g.Count = n
		out.Groups = append(out.Groups, g)
	}
	slices.SortFunc(out.Groups, func(a, b LetterGroup) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Verdict+a.Reason+a.Type, b.Verdict+b.Reason+b.Type))
	})
	slices.SortFunc(out.Letters, func(a, b LetterSummary) int { return cmp.Or(b.Sent.Compare(a.Sent), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// summary reads quarantine's note, and the type from the message itself.
func (t *Tables) summary(m types.Message) LetterSummary {
	s := LetterSummary{ID: aws.ToString(m.MessageId), Verdict: "unknown", Reason: "the message has no note of Ingot's"}
	if ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64); err == nil {
		s.Sent = time.UnixMilli(ms).UTC()
	}
	if note, is := noteOf(m); is {
		s.Verdict, s.Reason, s.PK, s.SK = note.Verdict, note.Reason, note.PK, note.SK
	}
	s.Type = t.typeOf(m)
	return s
}

func noteOf(m types.Message) (handler.Note, bool) {
	a, there := m.MessageAttributes[handler.Attribute]
	if !there || a.StringValue == nil {
		return handler.Note{}, false
	}
	return handler.ReadNote(*a.StringValue)
}

// ofStream reports whether a letter is about a record of the stream or an update of a total, and so
// not a message that could be sent.
func ofStream(n handler.Note) bool {
	switch event.Reason(n.Reason) {
	case handler.UndecodableRecord, handler.GivenUp, handler.RefusedUpdate:
		return true
	}
	return false
}

// opened is a message without quarantine's note.
func opened(m types.Message) envelope.Message {
	e := envelope.Message{Body: aws.ToString(m.Body), Attributes: map[string]string{}}
	_, noted := noteOf(m)
	for name, a := range m.MessageAttributes {
		if a.StringValue != nil && !(noted && name == handler.Attribute) {
			e.Attributes[name] = *a.StringValue
		}
	}
	return e
}

func (t *Tables) typeOf(m types.Message) string {
	item, err := t.Pipeline().Plan(opened(m))
	if err == nil {
		return item.Type
	}
	e := explain.Explainer{Pipeline: t.Pipeline(), Counting: t.Counting, Partitions: partitions, Now: t.now()}
	return e.Explain([]explain.Message{{Message: opened(m)}}).Messages[0].Type
}

// letter looks for one message, and compares it with what is stored under its key.
func (t *Tables) letter(ctx context.Context, id string) (*Letter, error) {
	m, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	l := &Letter{LetterSummary: t.summary(m), Body: aws.ToString(m.Body)}
	note, _ := noteOf(m)
	l.Detail = note.Detail
	if ofStream(note) {
		l.Today = "Nothing: it is about a stored item, and not a message that could be sent."
		return l, nil
	}
	p := t.Pipeline()
	item, err := p.Plan(opened(m))
	if err != nil {
		l.Today = "Poison: " + strings.TrimPrefix(err.Error(), "Poison: ")
		return l, nil
	}
	r, err := t.judge(ctx, item)
	if err != nil {
		return nil, err
	}
	l.Today = r.Verdict.String() + ". " + consequence(r.Verdict)
	stored, err := t.readStored(ctx, item.Key)
	if err != nil || stored == nil || stored.item == nil {
		return l, err
	}
	l.Stored = stored.item.Data
	if stored.item.Type != item.Type {
		l.Differences = []Difference{{Path: "(type)", Stored: stored.item.Type, Here: item.Type}}
		return l, nil
	}
	a, errA := p.DigestText(stored.item.Type, stored.item.Data)
	b, errB := p.DigestText(item.Type, item.Data)
	if errA == nil && errB == nil {
		l.Differences = differ(a, b)
	}
	return l, nil
}

// find returns one message of quarantine, which stays there.
func (t *Tables) find(ctx context.Context, id string) (found types.Message, err error) {
	there := false
	_, err = t.look(ctx, func(m types.Message) bool {
		if aws.ToString(m.MessageId) == id {
			found, there = m, true
		}
		return !there
	})
	if err == nil && !there {
		err = &mistake{"this message is not in quarantine now; somebody else may be looking at it, or has sent it"}
	}
	return found, err
}

// resend sends a message again and then deletes it from quarantine. If it stops between the two, the
// message is in both queues, and the second copy is a Duplicate or comes back here.
func (t *Tables) resend(ctx context.Context, id string) (string, error) {
	if t.Queue == "" {
		return "", &mistake{"the queue of this stack is not known here"}
	}
	ctx = context.WithoutCancel(ctx) // a page that is closed must not leave the message in both queues
	said, there := "", false
	var failed error
	_, err := t.look(ctx, func(m types.Message) bool {
		if aws.ToString(m.MessageId) != id {
			return true
		}
		there = true
		if note, _ := noteOf(m); ofStream(note) {
			failed = &mistake{"this is about a stored item, and not a message that could be sent"}
			return false
		}
		said, failed = t.send(ctx, m)
		return false
	})
	switch {
	case failed != nil:
		return "", failed
	case err != nil:
		return "", err
	case !there:
		return "", &mistake{"this message is not in quarantine now; somebody else may be looking at it, or has sent it"}
	}
	return said, nil
}

func (t *Tables) send(ctx context.Context, m types.Message) (string, error) {
	in := &sqs.SendMessageInput{QueueUrl: &t.Queue, MessageBody: m.Body, MessageAttributes: map[string]types.MessageAttributeValue{}}
	note, noted := noteOf(m)
	for name, a := range m.MessageAttributes {
		if !(noted && name == handler.Attribute) {
			in.MessageAttributes[name] = a
		}
	}
	if strings.HasSuffix(t.Queue, ".fifo") {
		// Its own id: the queue would drop it as a copy of the one that went to quarantine.
		in.MessageGroupId, in.MessageDeduplicationId = aws.String(cmp.Or(note.Group, "ingot")), m.MessageId
	}
	out, err := t.SQS.SendMessage(ctx, in)
	if err != nil {
		return "", fmt.Errorf("the queue did not take the message, and it stays in quarantine: %w", err)
	}
	if _, err := t.SQS.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &t.Quarantine, ReceiptHandle: m.ReceiptHandle}); err != nil {
		return "", fmt.Errorf("the message was sent as %s, but it is still in quarantine too: %w. That does no harm: sent again, it is a Duplicate", aws.ToString(out.MessageId), err)
	}
	return "Sent as message " + aws.ToString(out.MessageId) + ", and deleted from quarantine.", nil
}
