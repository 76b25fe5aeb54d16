package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

// fifoTemplate is the sample's template with the changes that docs/deploy.md lists.
func fifoTemplate(t *testing.T) string {
	t.Helper()
	text := must.Read(t, filepath.Join("..", "..", sampleshop.Template))
	template := string(text)
	for _, queue := range []string{"\n  IngestQueue:", "\n  DeadLetterQueue:"} {
		at := strings.Index(template, queue)
		if at < 0 {
			t.Fatalf("the sample's template has no %s", queue)
		}
		properties := strings.Index(template[at:], "    Properties:\n")
		at += properties + len("    Properties:\n")
		template = template[:at] + "      FifoQueue: true\n" + template[at:]
	}
	return template
}

// TestFIFOInDev goes the whole way through a FIFO queue, which template.yaml declares.
func TestFIFOInDev(t *testing.T) {
	w := newDevWorldIn(t, map[string]string{"pipeline.yaml": letterSpec, "template.yaml": fifoTemplate(t)})
	if queue := w.dev.Local().QueueURL; !strings.HasSuffix(queue, "/events.fifo") {
		t.Fatalf("the queue is %s", queue)
	}
	var lines, want []string
	for n := range 40 {
		lines = append(lines,
			fmt.Sprintf(`{"type":"sale","id":%d,"at":"2026-01-02T03:04:05Z","customer":{"email":"c%d@example.com"},"cents":%d}`, n, n%3, n))
		if n%3 == 1 {
			want = append(want, fmt.Sprintf("SALE#%d", n))
		}
	}
	lines = append(lines, `{"type":"sale","id":7,"at":"2026-01-02T03:04:05Z","customer":{"email":"c1@example.com"},"cents":1}`)
	write(t, "events.ndjson", strings.Join(lines, "\n"))
	w.run(2, "send events.ndjson --local")
	w.run(3, "send events.ndjson --local --group customer.email --wait") // the last one is a Conflict
	until(t, "the Conflict is in quarantine", func() bool { return w.quarantined() == 1 })
	var got []string
	steps, _ := w.dev.Steps().After(0, 1000)
	for _, s := range steps {
		if s.Message != nil && s.Message.Verdict == event.Inserted && strings.Contains(s.Message.Message.Body, "c1@") {
			got = append(got, s.Message.Item.Key.PK)
		}
	}
	must.Match(t, got, want)
	// A message keeps its group in quarantine, so it can be sent again.
	ids := w.pull()
	w.run(3, "quarantine show letters --local", ids[0])
	w.run(0, "quarantine resend letters --replace --yes --local", ids[0])
	until(t, "the message is processed", func() bool { return w.queued() == 0 })
	w.run(0, "get sale id=7 --local").prints(t, `"cents":1}`)
}

// TestAttributesThroughDev sends a message with attributes, which goes to quarantine, is mended,
// and is sent again from there. Its attributes are the same each time.
func TestAttributesThroughDev(t *testing.T) {
	w := newDevWorld(t)
	sent := map[string]types.MessageAttributeValue{
		"trace": {DataType: aws.String("String"), StringValue: aws.String("täxt <&>")},
		"size":  {DataType: aws.String("Number.int"), StringValue: aws.String("12")},
		"raw":   {DataType: aws.String("Binary.raw"), BinaryValue: []byte{0, 1, 0xff}},
	}
	look := func(queue, body string, attributes int) {
		t.Helper()
		until(t, "the message waits", func() bool { return w.waiting(queue) == 1 })
		client := w.dev.Engine().SQS()
		out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, MessageAttributeNames: []string{"All"}})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("%s: %d messages: %v", queue, len(out.Messages), err)
		}
		m := out.Messages[0]
		_, err = client.ChangeMessageVisibility(t.Context(),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
		must.Succeed(t, err)
		if *m.Body != body || len(m.MessageAttributes) != attributes {
			t.Errorf("%s: the body is %s, and there are %d attributes, want %d", queue, *m.Body, len(m.MessageAttributes), attributes)
		}
		for name, want := range sent {
			got := m.MessageAttributes[name]
			if aws.ToString(got.DataType) != *want.DataType || aws.ToString(got.StringValue) != aws.ToString(want.StringValue) ||
				!slices.Equal(got.BinaryValue, want.BinaryValue) {
				t.Errorf("%s: the attribute %s is %s %q %v", queue, name, aws.ToString(got.DataType), aws.ToString(got.StringValue),
					got.BinaryValue)
			}
		}
	}
	w.post(w.dev.Stack().Queue, badSale, sent)
	look(w.dev.Stack().Quarantine, badSale, len(sent)+1) // and the reason
	id := w.pull()[0]
	const mended = `{"type":"sale","id":2,"at":"2026-01-02T03:04:05Z","customer":{"email":"bob@example.com"},"cents":5}`
	write(t, filepath.Join("letters", id+".body"), mended)
	w.run(0, "pause --local")
	w.run(0, "quarantine resend letters --local", id)
	look(w.dev.Stack().Queue, mended, len(sent))
	w.run(0, "resume --local")
	until(t, "the messages are processed", func() bool { return w.queued() == 0 })
	w.run(0, "get sale id=2 --local")
}
