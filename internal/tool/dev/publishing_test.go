package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const publishing = `publish: 1
source: "${STAGE}"
publications:
  orders: {from: [order.placed], to: "${PUBLISH_TO}"}
`

// taken takes the next message that orders sends.
func taken(t *testing.T, d *Dev) string {
	t.Helper()
	queues, _ := clients(t, d)
	url := d.Local().Endpoint + "/" + Account + "/published-orders"
	out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{WaitTimeSeconds: 20, QueueUrl: &url})
	must.Succeed(t, err)
	if len(out.Messages) != 1 {
		t.Fatal("there is no message")
	}
	_, err = queues.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: out.Messages[0].ReceiptHandle})
	must.Succeed(t, err)
	return *out.Messages[0].Body
}

// What publish.yaml publishes goes to queues of the ingot dev, also after a restart, and as the
// file says when it changes.
func TestPublishing(t *testing.T) {
	file, told := folder(t, orders), make(chan string, 100)
	own := filepath.Join(filepath.Dir(file), "publish.yaml")
	must.Write(t, own, publishing)
	cfg := Config{File: file, Data: filepath.Join(filepath.Dir(file), "data"), Tell: func(line string) { told <- line }}
	say := func(part string) {
		t.Helper()
		for late := time.After(2 * time.Minute); ; {
			select {
			case line := <-told:
				if strings.Contains(line, part) {
					return
				}
			case <-late:
				t.Fatalf("%q was not told in two minutes", part)
			}
		}
	}
	run := func(do func(d *Dev, send func(n int), receive func(want ...string))) {
		t.Helper()
		d, err := Start(t.Context(), cfg)
		must.Succeed(t, err)
		queues, _ := clients(t, d)
		do(d, func(n int) {
			_, err := queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(d.Local().QueueURL),
				MessageBody: aws.String(order(n, n))})
			must.Succeed(t, err)
		}, func(want ...string) {
			t.Helper()
			for _, want := range want {
				must.Say(t, taken(t, d), want)
			}
		})
		must.Succeed(t, d.Close())
	}
	run(func(d *Dev, send func(int), receive func(...string)) {
		say("what orders sends is in the queue " + d.Local().Endpoint + "/000000000000/published-orders")
		send(1)
		receive(`"source":"dev","type":"order.placed","time":"2026-03-01T09:00:00Z","change":"stored"`)
		must.Write(t, own, strings.Replace(publishing, "order.placed]", "order.placed], when: total_cents > 5", 1))
		say("publish.yaml has changed; the functions run with it now")
		send(2)
		send(6)
		receive(`"order_id":"o-6"`)
		must.Write(t, own, strings.Replace(publishing, "order.placed]", "order.placd]", 1))
		say("has no event type order.placd; write order.placed")
		send(3)
		send(7)
		receive(`"order_id":"o-7"`)
	})
	must.Write(t, own, publishing)
	run(func(_ *Dev, send func(int), receive func(...string)) {
		send(4)
		receive(`"order_id":"o-4"`) // and nothing a second time
		must.Succeed(t, os.Remove(own))
		say("publish.yaml has changed")
		send(8)
		must.Write(t, own, publishing)
		receive(`"order_id":"o-8"`)
	})
	must.Write(t, own, "publish: 2\n")
	_, err := Start(t.Context(), cfg)
	must.Fail(t, err, "publish.yaml", "publish: 2 is not a format")
}
