package handler_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
)

// goldenKinds has every kind of value, window and lifetime, spread, both modes, and more than 24
// totals in one batch.
const goldenKinds = `
ingot: 1
epoch: 2
type: "{type}"
events:
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "SITE#{site | lower}", sk: "{@at | time}#{id}"}
    indexes: {GSI1: {pk: "SENSOR#{sensor}", sk: "{@at | time}#{id}"}}
    attributes: {state: state, level: level, ok: ok}
    retain: 3d
    ignore: [sent]
  sensor:
    mode: latest
    revision: [changed time, version number]
    id: "{sensor}"
    at: "{at}"
    key: {pk: "SENSOR#{sensor}", sk: "SENSOR"}
aggregates:
  hourly:
    since: 1
    by: {sensor: "{sensor}"}
    window: 1h
    from:
      reading:
        where: ok = true
        values:
          readings: count
          sum: sum level
          down: sum -level?
          low: min level
          high: max level
          tags: sum length tags?
          warm: {count: true, where: "level > 20"}
    retain: 30d
  weekly: {since: 1, by: {site: "{site | lower}"}, window: 1w, from: {reading: {values: {readings: count}}}}
  spread: {since: 1, spread: 3, from: {reading: {values: {readings: count, high: max level}}}}
  live:   {since: 2, onExpire: subtract, from: {reading: {values: {readings: count, sum: sum level}}, sensor: {values: {sensors: count}}}}
`

func reading(id int, sensor, at string, level string, extra string) string {
	return fmt.Sprintf(`{"type":"reading","id":"r%d","sensor":%q,"site":"North","at":"2099-03-01T%sZ","level":%s,"ok":true%s}`, id, sensor,
		at, level, extra)
}

// goldenShop are messages for the sample shop, a batch in each entry.
var goldenShop = [][]string{{
	`{"type":"order.placed","merchant_id":"m-1","order_id":"o-1","customer_id":"c-1","product_id":"p-1","quantity":2,"placed_at":"2099-03-01T09:00:00Z","currency":"EUR","total_cents":1250,"status":"new"}`,
	`{"type":"order.placed","merchant_id":"m-1","order_id":"o-2","customer_id":"c-1","product_id":"p-2","quantity":1,"placed_at":"2099-03-01T10:30:00Z","currency":"EUR","total_cents":4998.50,"status":"new"}`,
	`{"type":"order.placed","merchant_id":"m-1","order_id":"o-1","customer_id":"c-1","product_id":"p-1","quantity":2,"placed_at":"2099-03-01T09:00:00Z","currency":"EUR","total_cents":1250.0,"status":"new","trace_id":"t"}`,
	`{"type":"order.placed","merchant_id":"m-1","order_id":"o-2","customer_id":"c-1","product_id":"p-2","quantity":1,"placed_at":"2099-03-01T10:30:00Z","currency":"EUR","total_cents":9998,"status":"new"}`,
	`{"type":"order.shipped","merchant_id":"m-1","order_id":"o-1","shipment_id":"s-1","shipped_at":"2099-03-01T11:00:00Z","updated_at":"2099-03-01T11:00:00Z","status":"packed"}`,
}, {
	`{"type":"order.paid","merchant_id":"m-1","order_id":"o-1","payment_id":"p-1","paid_at":"2099-03-01T09:05:00Z","currency":"EUR","amount_cents":1250,"status":"captured"}`,
	`{"type":"order.refunded","merchant_id":"m-1","order_id":"o-1","refund_id":"f-1","customer_id":"c-1","refunded_at":"2099-03-02T08:00:00Z","currency":"EUR","refund_cents":250}`,
	`{"type":"order.shipped","merchant_id":"m-1","order_id":"o-1","shipment_id":"s-1","shipped_at":"2099-03-01T11:00:00Z","updated_at":"2099-03-01T12:00:00Z","status":"sent","carrier":"x"}`,
	`{"type":"order.shipped","merchant_id":"m-1","order_id":"o-1","shipment_id":"s-1","shipped_at":"2099-03-01T11:00:00Z","updated_at":"2099-03-01T11:30:00Z","status":"late"}`,
	`{"type":"order.placed","merchant_id":"m-1","order_id":"o-1"`,
}}

// goldenReadings are messages for the second pipeline.
func goldenReadings() [][]string {
	few := []string{
		reading(1, "s1", "10:15:00", "20.5", `,"tags":["a","b"],"state":"on"`),
		reading(2, "s1", "10:45:00", "-3", `,"tags":[]`),
		reading(3, "s2", "11:00:00", "1e3", ``),
		reading(3, "s2", "11:00:00", "1000", `,"sent":2`),
		reading(4, "s2", "11:00:00", "0", `,"state":null`),
		`{"type":"reading","id":"r5","sensor":"s3","site":"south","at":"2099-03-01T11:59:59.999Z","level":5,"ok":false}`,
		`{"type":"sensor","sensor":"s1","at":"2099-01-01T00:00:00Z","changed":"2099-03-01T00:00:00Z","version":1}`,
	}
	again := []string{
		reading(6, "s1", "10:59:00", "21", ``), reading(7, "s1", "10:01:00", "99", ``), reading(8, "s1", "10:02:00", "1", ``),
		`{"type":"sensor","sensor":"s1","at":"2099-01-01T00:00:00Z","changed":"2099-03-01T00:00:00Z","version":2}`,
	}
	var many, more []string
	for i := range 26 {
		many = append(many, reading(100+i, fmt.Sprintf("t%02d", i), "09:00:00", fmt.Sprint(i), ""))
		more = append(more, reading(200+i, fmt.Sprintf("t%02d", i), "09:30:00", fmt.Sprint(26-i), `,"tags":[1]`))
	}
	return [][]string{few, again, many, more}
}

// A file that uses only what there was when the golden files of shop and kinds were made still
// compiles to the same items and totals, byte for byte, in as many requests and units. The files of
// values hold the stored forms that came later.
func TestGolden(t *testing.T) {
	shop := func() (*pipeline.Pipeline, error) {
		return pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte("0123456789abcdef0123456789abcdef")))
	}
	for _, c := range bothWays {
		for _, g := range []struct {
			name    string
			load    func() (*pipeline.Pipeline, error)
			batches [][]string
		}{{"shop", shop, goldenShop}, {"kinds", loaded(goldenKinds), goldenReadings()}, {"values", valuesPipeline, goldenDated()}} {
			name := g.name + "-" + c.String()
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, counting(c), func(s *setup) {
					s.load = g.load
					s.env = func(clock *testworld.Clock) env.Env {
						e := clock.Env(func() float64 { return 0.5 })
						e.Deadline = nil // as Lambda does, the harness gives a deadline by the real clock
						return e
					}
				}).started()
				golden.File(t, filepath.Join("testdata", "golden", name+".txt"), w.golden(g.batches))
			})
		}
	}
}

// golden sends the batches, lets everything expire, and tells what is stored and what it cost.
func (w *world) golden(batches [][]string) string {
	var b strings.Builder
	stream, err := w.MapStream(esm.StreamConfig{BatchSize: 100, Window: w.Window(),
		Function: esm.Function{Handler: lambda.NewHandler(w.streams.Handle).Invoke}})
	must.Succeed(w.t, err)
	phase := func(name string, do func()) {
		before := w.Engine.Usage()
		do()
		for range 4 {
			w.Clock.Pass(time.Minute)
			_, err := stream.Poll(context.Background())
			must.Succeed(w.t, err)
		}
		used := w.Engine.Usage().Sub(before)
		fmt.Fprintf(&b, "# %s\n", name)
		for _, api := range slices.Sorted(maps.Keys(used.Requests)) {
			if api != "GetRecords" && api != "GetShardIterator" && api != "DescribeStream" {
				fmt.Fprintf(&b, "%s %d\n", api, used.Requests[api])
			}
		}
		for _, table := range slices.Sorted(maps.Keys(used.Tables)) {
			u := used.Tables[table]
			fmt.Fprintf(&b, "%s: units written %v, in indexes %v, read %v\n", table, u.Write, u.IndexWrite, u.Read)
		}
	}
	for i, bodies := range batches {
		phase(fmt.Sprintf("batch %d", i+1), func() {
			w.receive(messages(bodies...))
			fmt.Fprintln(&b, w.verdicts())
		})
	}
	b.WriteString(w.dump(stack.Events) + w.dump(stack.Aggregates))
	phase("expiry", func() {
		w.Clock.Pass(95 * 24 * time.Hour)
		w.Engine.SweepExpired()
	})
	b.WriteString(w.dump(stack.Events) + w.dump(stack.Aggregates))
	return b.String()
}

// dump returns the items of a table in the order of their keys, an attribute in each line. Of
// receipts it returns only how many there are.
func (w *world) dump(table string) string {
	found, receipts := map[event.Key]string{}, 0
	in := &dynamodb.ScanInput{TableName: &table}
	for {
		out, err := w.Engine.DynamoDB().Scan(context.Background(), in)
		must.Succeed(w.t, err)
		for _, item := range out.Items {
			if strings.HasPrefix(shown(item["PK"]), "S R#") {
				receipts++
				continue
			}
			key := event.Key{PK: shown(item["PK"]), SK: shown(item["SK"])}
			var b strings.Builder
			fmt.Fprintf(&b, "# %s: %s | %s\n", table, key.PK, key.SK)
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if name != "PK" && name != "SK" {
					fmt.Fprintf(&b, "%s %s\n", name, shown(item[name]))
				}
			}
			found[key] = b.String()
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			break
		}
	}
	var b strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(found), func(a, b event.Key) int {
		return strings.Compare(a.PK+"\x00"+a.SK, b.PK+"\x00"+b.SK)
	}) {
		b.WriteString(found[key])
	}
	if receipts > 0 {
		fmt.Fprintf(&b, "# %d receipts\n", receipts)
	}
	return b.String()
}

// shown returns the type and the text of a stored value.
func shown(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S " + v.Value
	case *types.AttributeValueMemberN:
		return "N " + v.Value
	case *types.AttributeValueMemberB:
		return "B " + hex.EncodeToString(v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint("BOOL ", v.Value)
	case *types.AttributeValueMemberM:
		parts := make([]string, 0, len(v.Value))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			parts = append(parts, name+" "+shown(v.Value[name]))
		}
		return "M {" + strings.Join(parts, ", ") + "}"
	case *types.AttributeValueMemberL:
		parts := make([]string, len(v.Value))
		for i, entry := range v.Value {
			parts[i] = shown(entry)
		}
		return "L [" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%T", v)
}
