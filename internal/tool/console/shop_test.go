package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/dev"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shopPipeline = `ingot: 1
epoch: 1
type: "{type}"
events:
  order.placed:
    id: "{order_id}"
    at: "{placed_at}"
    key: {pk: "ORDER#{order_id}", sk: "PLACED"}
    indexes:
      GSI1: {pk: "CUSTOMER#{email | hmac}", sk: "{@at | time}#{@id}"}
    attributes: {status: status}
    retain: 3650d
    ignore: [trace]
aggregates:
  orders_daily:
    since: 1
    by: {merchant: "{merchant}", currency: "{currency}"}
    window: 1d
    from:
      order.placed: {values: {orders: count, revenue: sum cents}}
  customers:
    since: 1
    by: {customer: "{email | hmac}"}
    from:
      order.placed: {values: {orders: count, largest: max cents}}
  shops_monthly:
    since: 1
    by: {merchant: "{merchant}"}
    window: 1mo
    from:
      order.placed: {values: {buyers: distinct email, cents: histogram cents, last: newest status, mail: newest email}}
`

// evil is markup that would run if it were ever taken for markup, with characters that cannot be
// seen or that turn the direction of writing.
const evil = `<img src=x onerror=\"document.title='owned'\">\u202e\u0007`

func order(n, cents int) string {
	merchants := []string{"lindgren", "okafor", "sato", "moreau", "alvarez"}
	return fmt.Sprintf(
		`{"type":"order.placed","order_id":"o-%04d","merchant":%q,"email":"anna%d@example.com","currency":"EUR","cents":%d,"status":"paid","placed_at":"2026-%02d-%02dT%02d:15:00Z"}`,
		n, merchants[n*n%13%5], n%9, cents, 2+n%28/14, 1+n%14*2%28, n%24)
}

// shop runs a pipeline with its console until the test ends.
func shop(t *testing.T) *dev.Dev {
	t.Helper()
	return devOf(t, shopPipeline)
}

// devOf runs a pipeline with its console until the test ends.
func devOf(t *testing.T, text string) *dev.Dev {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop", "pipeline.yaml")
	must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Write(t, file, text)
	cfg := dev.Config{File: file, Now: time.Now, Secret: []byte("a secret of at least 16 bytes")}
	InDev(t.Context(), &cfg, false)
	d, err := dev.Start(t.Context(), cfg)
	must.Succeed(t, err)
	t.Cleanup(func() { must.Succeed(t, d.Close()) })
	return d
}

// send sends messages, ten at a time.
func send(ctx context.Context, d *dev.Dev, bodies ...string) error {
	for len(bodies) > 0 {
		n := min(10, len(bodies))
		in := &sqs.SendMessageBatchInput{QueueUrl: &d.Stack().Queue}
		for i, body := range bodies[:n] {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)),
				MessageBody: aws.String(body)})
		}
		if out, err := d.Engine().SQS().SendMessageBatch(ctx, in); err != nil || len(out.Failed) > 0 {
			return fmt.Errorf("sending: %w %v", err, out)
		}
		bodies = bodies[n:]
	}
	return nil
}

func mustSend(t *testing.T, d *dev.Dev, bodies ...string) {
	t.Helper()
	must.Succeed(t, send(t.Context(), d, bodies...))
}

// until waits until so many messages have been judged for good and so many items have been counted.
func until(t *testing.T, d *dev.Dev, judged, inserted int) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for number := int64(0); judged > 0 || inserted > 0; {
		steps, more := d.Steps().After(number, 1000)
		for _, s := range steps {
			number = s.Number
			if s.Message != nil && !s.Message.Failed {
				judged--
			}
			if s.Streams != nil {
				inserted -= s.Streams.Inserted
			}
		}
		if len(steps) > 0 {
			continue
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("after two minutes, %d messages are not judged and %d items are not counted", judged, inserted)
		}
	}
}

// fillShop sends a few weeks of orders, with copies, conflicts and messages that cannot be stored.
// It returns how many items are stored.
func fillShop(t *testing.T, d *dev.Dev) int {
	t.Helper()
	var bodies []string
	for n := range 300 {
		bodies = append(bodies, order(n, 1000+n*n%9000))
	}
	for n := range 40 {
		bodies = append(bodies, order(n*5, 1000+n*5*n*5%9000))
	}
	mustSend(t, d, bodies...)
	until(t, d, 340, 300)
	mustSend(t, d, order(7, 99999), order(11, 1), `{"type":"order.placed"`, `{"type":"order.shipped","id":1}`,
		`{"type":"order.placed","order_id":"o-0012","merchant":"sato","email":"anna3@example.com","currency":"EUR","cents":1144,"status":"`+
			evil+`","note":"`+evil+`","placed_at":"2026-02-25T12:15:00Z"}`,
		`{"type":"order.placed","order_id":"`+evil+`","merchant":"`+evil+
			`","email":"eve@example.com","currency":"EUR","cents":5,"status":"`+evil+`","placed_at":"2026-02-25T12:15:00Z"}`)
	until(t, d, 346, 301)
	return 301
}
