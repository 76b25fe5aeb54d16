package scenario

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// pollQueue runs the ingest command, which is one round of the queue's mapping.
func (w *world) pollQueue(a *arguments, out *report) error {
	if err := w.begin(a, out); err != nil {
		return err
	}
	polled, err := w.queue.Poll(context.Background())
	if err != nil {
		return err
	}
	if polled.Invocations > 0 {
		out.linef("%d deleted from the queue, %d to come back", polled.Deleted, polled.Left)
	}
	return w.trouble.unused()
}

// begin takes the trouble of a command.
func (w *world) begin(a *arguments, out *report) error {
	w.trouble, w.out = a.trouble(), out
	return a.done()
}

// received reports what the ingest function is given.
func (w *world) received(records []events.SQSMessage) {
	labels := make([]string, len(records))
	for i, m := range records {
		labels[i] = w.message(m.MessageId, m.Body)
	}
	w.out.linef("  < %s %s", plural(len(labels), "message"), strings.Join(labels, ", "))
}

// judged reports what became of one message.
func (w *world) judged(_ context.Context, o handler.Outcome) {
	verdict := o.Verdict.String()
	if o.Refusal != nil {
		verdict += " (" + string(o.Refusal.Reason) + ")"
	}
	if o.Verdict.Quarantined() && o.Failed {
		verdict += ", not in quarantine"
	}
	w.out.row("  message "+w.message(o.Message.MessageId, o.Message.Body), verdict, "")
}

func (w *world) answeredMessages(response events.SQSEventResponse) {
	var back []string
	for _, f := range response.BatchItemFailures {
		back = append(back, w.message(f.ItemIdentifier, ""))
	}
	if len(back) == 0 {
		w.out.linef("  > all done")
		return
	}
	w.out.linef("  > all done but %s", strings.Join(back, ", "))
}

// queues runs the queue command.
func (w *world) queues(_ *arguments, out *report) error {
	for _, q := range [][2]string{{"events", w.Queue}, {"dead letters", w.DeadLetters}, {"quarantine", w.Quarantine}} {
		got, err := w.Engine.SQS().GetQueueAttributes(context.Background(),
			&sqs.GetQueueAttributesInput{QueueUrl: &q[1], AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}})
		if err != nil {
			return err
		}
		out.row(q[0], got.Attributes["ApproximateNumberOfMessages"]+" waiting", got.Attributes["ApproximateNumberOfMessagesNotVisible"]+
			" in flight")
	}
	return nil
}

// letters runs the quarantine command. It reads the letters and leaves them there.
func (w *world) letters(_ *arguments, out *report) error {
	ctx := context.Background()
	var read []types.Message
	for {
		got, err := w.Engine.SQS().ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &w.Quarantine, MaxNumberOfMessages: 10,
			MessageAttributeNames: []string{"All"}})
		if err != nil {
			return err
		}
		if len(got.Messages) == 0 {
			break
		}
		read = append(read, got.Messages...)
	}
	for _, m := range read {
		out.row(w.readLetter(m)...)
		if _, err := w.Engine.SQS().ChangeMessageVisibility(ctx,
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &w.Quarantine, ReceiptHandle: m.ReceiptHandle}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) readLetter(m types.Message) []string {
	var note struct{ Verdict, Reason, Detail, PK string }
	_ = json.Unmarshal([]byte(aws.ToString(m.MessageAttributes[quarantine.Attribute].StringValue)), &note)
	label := "record of " + note.PK
	if number := w.message(aws.ToString(m.MessageId), aws.ToString(m.Body)); number != "" {
		label = "message " + strings.TrimSuffix(number, "'")
	}
	return []string{label, note.Verdict + " (" + note.Reason + ")", w.names.people(note.Detail, 130)}
}

// redrive moves dead letters back, where they get new ids.
func (w *world) redrive(_ *arguments, out *report) error {
	got, err := w.Engine.SQS().GetQueueAttributes(context.Background(), &sqs.GetQueueAttributesInput{QueueUrl: &w.DeadLetters,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameApproximateNumberOfMessages}})
	if err != nil {
		return err
	}
	_, err = w.Engine.SQS().StartMessageMoveTask(context.Background(),
		&sqs.StartMessageMoveTaskInput{SourceArn: aws.String(got.Attributes["QueueArn"])})
	out.linef("%s moved back", got.Attributes["ApproximateNumberOfMessages"])
	return err
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
