package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// dead is what people do with messages in the dead-letter queue.
type dead struct {
	*World
	byHand map[string]int // by body: dead letters that a person kept
}

// crowd is how many attributes fill a message, so that no room is left for the one that a letter to
// quarantine adds. SQS takes ten.
const crowd = 10

// attributes returns the message's own attributes: ten, two or none.
func (m *message) attributes() map[string]sqstypes.MessageAttributeValue {
	switch {
	case m.crowded:
		return crowdOfAttributes()
	case len(m.body)%3 == 0:
		return map[string]sqstypes.MessageAttributeValue{"trace": {DataType: aws.String("String"), StringValue: aws.String("t#1")},
			"raw": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}}}
	}
	return nil
}

func crowdOfAttributes() map[string]sqstypes.MessageAttributeValue {
	all := map[string]sqstypes.MessageAttributeValue{}
	for i := range crowd {
		all[fmt.Sprintf("a%d", i)] = sqstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("x")}
	}
	return all
}

// triage lets a person go through the dead letters. The person keeps those that belong in
// quarantine but that quarantine cannot take, and those whose text is gone: moved back, they would
// only come again. The other
// dead letters stay where they are.
func (w *dead) triage() {
	ctx := context.Background()
	var others []*string
	for {
		out, err := w.ingot.Engine.SQS().ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &w.ingot.DeadLetters,
			MaxNumberOfMessages:   10,
			MessageAttributeNames: []string{"All"}})
		w.Must(err)
		if err != nil || len(out.Messages) == 0 {
			break
		}
		for _, letter := range out.Messages {
			m := w.sent[*letter.Body]
			gone := m.object != "" && !w.pointers.isThere(m.object)
			if !gone && (len(letter.MessageAttributes) != crowd || !w.hopeless(m)) {
				others = append(others, letter.ReceiptHandle)
				continue
			}
			if !gone {
				w.Fault(unfit, *letter.Body)
			}
			w.byHand[*letter.Body]++
			for e := range m.each {
				e.kept = e.kept || e.of != nil && w.unsettled(e) != ""
			}
			_, err := w.ingot.Engine.SQS().DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &w.ingot.DeadLetters,
				ReceiptHandle: letter.ReceiptHandle})
			w.Must(err)
		}
	}
	for _, handle := range others {
		_, err := w.ingot.Engine.SQS().ChangeMessageVisibility(ctx,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &w.ingot.DeadLetters, ReceiptHandle: handle})
		w.Must(err)
	}
}

// hopeless reports whether a message can never be stored in the present state of the world.
//
// An array is hopeless if one of its events is, and all others are stored or hopeless too.
func (w *dead) hopeless(m *message) bool {
	if m.events != nil {
		some := false
		for _, e := range m.events {
			is := w.hopeless(e)
			if !is && w.unsettled(e) != "" {
				return false
			}
			some = some || is
		}
		return some
	}
	now := &invocation{began: w.model.Records, epoch: newest, moves: w.pointers.moves}
	return m.malformed && !m.unwanted() || slices.ContainsFunc([]string{"Conflict", "Rejected", "Expired"}, func(v string) bool {
		return w.verdicts.undeserved(now, m, v) == ""
	})
}

// redrive moves dead letters back into the queue, where they get new ids.
func (w *dead) redrive() {
	if w.depth(w.ingot.DeadLetters) == 0 {
		return
	}
	w.Fault(redriven, "")
	w.Must(w.ingot.Redrive(context.Background()))
}

// depth returns how many messages a queue holds, including those in flight.
func (w *dead) depth(url string) int {
	n, err := w.ingot.Depth(context.Background(), url)
	w.Must(err)
	return n
}
