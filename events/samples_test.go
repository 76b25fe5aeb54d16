// Package events_test checks the sample events of this directory. It defines what they are, writes
// their files, and checks that the files say what the pipeline makes of them today.
package events_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/samples"
)

// ingestSample is one file for the ingest function.
type ingestSample struct {
	file, about, answer string
	after               []string // files that come before it on fresh tables
	queue               string   // name of the queue; empty means ingest
	messages            []message
}

// message is one queue message, with its expected outcome.
type message struct {
	body       string
	attributes []attribute
	system     map[string]string // system attributes beyond those that every message has
	sent       string            // RFC 3339
	receives   int               // 0 means 1
	verdict    event.Verdict
	reason     event.Reason
	key        event.Key // of the item that is stored, or that is in the way
	returned   bool      // whether it is returned to the queue
}

type attribute struct{ name, kind, value string }

// streamSample is one file for the streams function.
type streamSample struct {
	file, about, answer string
	after               []string // files that come before it on fresh tables
	shard               string   // empty for a mapping without a window
	piped               bool     // from EventBridge Pipes: an array of records
	created             string   // of its records, RFC 3339
	final               bool     // the last invocation of its window
	records             []record
	refused             []string // ways of counting under which the whole batch fails; "marks", "receipts"
	totals              []total
	archived            []event.Key
}

// record is one stream record, with its expected outcome.
type record struct {
	kind     event.ChangeKind
	sequence string
	old, new *picture
	ttl      bool          // whether the service says that time to live made it
	later    time.Duration // how much later than the first record of the batch
	outcome  outcome
}

// outcome names what becomes of a stream record.
type outcome string

const (
	counted     outcome = "counted"     // its contribution moves the totals
	unchanged   outcome = "unchanged"   // old and new contribution are equal, so no total changes
	dropped     outcome = "dropped"     // it was counted before, as a mark or receipt shows
	ignored     outcome = "ignored"     // it is not an item of Ingot
	behind      outcome = "behind"      // its stamp is below every generation of its type, and the heads say so
	quarantined outcome = "quarantined" // it was not understood, so it is kept apart and every head is flagged
	refused     outcome = "refused"     // its batch fails as a whole
)

// picture is an image of an item: what the pipeline plans for body, with the changes that were made
// to it afterwards.
type picture struct {
	body  string
	alter func(image)
}

type total = samples.Total

// inserted returns the record of an item that is new.
func inserted(sequence string, item picture, is outcome) record {
	return record{kind: event.Insert, sequence: sequence, new: &item, outcome: is}
}

// order is an order.placed event as a producer writes it.
type order struct {
	merchant, id, customer, product string
	quantity, cents                 int
	at                              string
}

func (o order) body() string {
	return fmt.Sprintf(
		`{"type":"order.placed","merchant_id":%q,"order_id":%q,"customer_id":%q,"product_id":%q,"quantity":%d,"currency":"EUR","total_cents":%d,"status":"placed","placed_at":%q,"trace_id":"5f2c9d1ab0e34c77","sent_at":%q}`,
		o.merchant, o.id, o.customer, o.product, o.quantity, o.cents, o.at, o.at)
}

// sent returns the order as a message, which comes to this verdict.
func (o order) sent(v event.Verdict) message {
	return message{body: o.body(), sent: o.at, verdict: v, key: o.key()}
}

func (o order) key() event.Key { return event.Key{PK: "ORDER#" + o.merchant + "#" + o.id, SK: "ORDER"} }

func paid(merchant, order, payment, status string, cents int, at string) string {
	return fmt.Sprintf(
		`{"type":"order.paid","merchant_id":%q,"order_id":%q,"payment_id":%q,"method":"card","currency":"EUR","amount_cents":%d,"status":%q,"paid_at":%q}`,
		merchant, order, payment, cents, status, at)
}

func refunded(merchant, order, refund, customer string, cents int, at string) string {
	return fmt.Sprintf(
		`{"type":"order.refunded","merchant_id":%q,"order_id":%q,"refund_id":%q,"customer_id":%q,"currency":"EUR","refund_cents":%d,"reason":"damaged","refunded_at":%q}`,
		merchant, order, refund, customer, cents, at)
}

func shipped(merchant, order, shipment, status, at, updated string) string {
	return fmt.Sprintf(
		`{"type":"order.shipped","merchant_id":%q,"order_id":%q,"shipment_id":%q,"carrier":"postal","status":%q,"shipped_at":%q,"updated_at":%q}`,
		merchant, order, shipment, status, at, updated)
}

// key returns the key under which a fact of an order is stored.
func key(merchant, order, sk string) event.Key {
	return event.Key{PK: "ORDER#" + merchant + "#" + order, SK: sk}
}

// customer returns how a key names the customer with this id.
func customer(id string) string {
	mac := hmac.New(sha256.New, []byte(localKey()))
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil))
}
