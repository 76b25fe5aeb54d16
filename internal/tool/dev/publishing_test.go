package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	d, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	say("what orders sends is in the queue " + d.Local().Endpoint + "/000000000000/published-orders")
	send(t, d, order(1, 1))
	must.Say(t, taken(t, d), `"source":"dev","type":"order.placed","time":"2026-03-01T09:00:00Z","change":"stored"`)
	must.Write(t, own, strings.Replace(publishing, "order.placed]", "order.placed], when: total_cents > 5", 1))
	say("publish.yaml has changed; the functions run with it now")
	send(t, d, order(2, 2), order(6, 6))
	must.Say(t, taken(t, d), `"order_id":"o-6"`)
	must.Write(t, own, strings.Replace(publishing, "order.placed]", "order.placd]", 1))
	say("has no event type order.placd; write order.placed")
	send(t, d, order(3, 3), order(7, 7))
	must.Say(t, taken(t, d), `"order_id":"o-7"`)
	must.Succeed(t, d.Close())
	must.Write(t, own, publishing)
	d, err = Start(t.Context(), cfg)
	must.Succeed(t, err)
	send(t, d, order(4, 4))
	must.Say(t, taken(t, d), `"order_id":"o-4"`) // and nothing a second time
	must.Succeed(t, os.Remove(own))
	say("publish.yaml has changed")
	send(t, d, order(8, 8))
	must.Write(t, own, publishing)
	must.Say(t, taken(t, d), `"order_id":"o-8"`)
	must.Succeed(t, d.Close())
	must.Write(t, own, "publish: 2\n")
	_, err = Start(t.Context(), cfg)
	must.Fail(t, err, "publish.yaml", "publish: 2 is not a format")
}
