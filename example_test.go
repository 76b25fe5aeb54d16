package ingot_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// The packages also work without the two Lambdas: plan a message, put its event, read a verdict.
func Example_put() {
	ctx, client, key := context.Background(), newTables().Engine.DynamoDB(), []byte("a key of the example's")
	body := `{"type":"order.placed","merchant_id":"m1","order_id":"o1","customer_id":"c1","product_id":"p1","quantity":2,
		"placed_at":"2099-03-01T10:00:00Z","total_cents":1250,"currency":"EUR"}`

	p, err := pipeline.Load(os.DirFS("."), "pipeline.yaml", pipeline.Secret(key))
	check(err)
	st, err := store.New(tables.Config{Client: client, Pipeline: p, Events: "events", Aggregates: "totals"})
	check(err)

	item, err := p.Plan(envelope.Message{Body: body}) // an error is a *event.Refusal: a verdict, a reason, a detail
	check(err)
	results, _ := st.Put(ctx, []*event.Item{item})
	fmt.Println(results[0].Verdict, item.Key)

	results, _ = st.Put(ctx, []*event.Item{item})
	fmt.Println(results[0].Verdict)

	_, err = p.Plan(envelope.Message{Body: `{"type":"order.placed","merchant_id":"m1"}`})
	fmt.Println(err)
	// Output:
	// Inserted ORDER#m1#o1 / ORDER
	// Duplicate
	// Poison (missing-field): at: field placed_at is missing
}

// An event is erased for good. Its key is barred, and a redelivery does not bring the event back.
func Example_erase() {
	ctx := context.Background()
	w := newWorld(ctx, "m1", 1250)
	st := w.store
	for item, err := range st.Items(ctx) {
		check(err)

		erased, err := repair.Of(st).Erase(ctx, item.Key)
		check(err)
		fmt.Println(erased) // true: the event was stored, and is gone

		results, _ := st.Put(ctx, []*event.Item{item})
		fmt.Println(results[0].Verdict, results[0].Refusal.Reason)
	}
	// Output:
	// true
	// Duplicate barred
}

// This is the ingest function as a Lambda of your own, with a hook.
func Example_lambda() {
	ctx := context.Background()
	p, err := pipeline.Load(os.DirFS("."), "pipeline.yaml", pipeline.Secret([]byte(os.Getenv("INGOT_PII_KEY"))))
	check(err)
	cfg, err := config.LoadDefaultConfig(ctx)
	check(err)
	client := dynamodb.NewFromConfig(cfg)

	in, err := handler.NewIngest(tables.Config{Client: client, Pipeline: p, Events: "events", Aggregates: "totals"})
	check(err)
	in.Quarantine = quarantine.New(sqs.NewFromConfig(cfg), os.Getenv("INGOT_QUARANTINE_URL"))
	in.OnResult = func(_ context.Context, o handler.Outcome) { fmt.Println(o.Message.MessageId, o.Verdict) }
	lambda.Start(in.Handle)
}

// The streams function moves totals, once for each event. The store reads them.
func Example_total() {
	ctx := context.Background()
	w := newWorld(ctx, "m1", 1250, 300, 50)
	reader := query.Of(w.store)

	day := time.Date(2099, 3, 1, 0, 0, 0, 0, time.UTC)
	totals, err := reader.Total(ctx, "merchant_daily", map[string]string{"merchant": "m1", "currency": "EUR"}, day, day.AddDate(0, 0, 7))
	check(err)
	for _, t := range totals {
		fmt.Println(t.Window.Format(time.DateOnly), t.Values["orders"], t.Values["ordered"], t.Values["largest"])
	}
	// Output:
	// 2099-03-01 3 1600 1250
}

// An average is a sum and a count that are divided when they are read.
func Example_average() {
	ctx := context.Background()
	reader := query.Of(newWorld(ctx, "m1", 1250, 300, 50).store)
	day := time.Date(2099, 3, 1, 0, 0, 0, 0, time.UTC)
	totals, err := reader.Total(ctx, "merchant_daily", map[string]string{"merchant": "m1", "currency": "EUR"}, day, day.AddDate(0, 0, 1))
	check(err)

	for _, t := range totals {
		sum, _ := new(big.Rat).SetString(t.Values["ordered"].String())
		count, _ := new(big.Rat).SetString(t.Values["orders"].String())
		if count.Sign() > 0 { // all its events may have gone
			average, _ := new(big.Rat).Quo(sum, count).Float64()
			fmt.Printf("%.2f\n", average)
		}
	}
	// Output:
	// 533.33
}

// Verify adds all items up anew and compares every total.
func Example_verify() {
	w := newWorld(context.Background(), "m1", 1250, 300, 50)
	check(verifyTotals(context.Background(), w.plan, w.store))
	w.spoil("A#merchant_daily#1#0#EUR#m1", "2099-03-01T00:00:00Z", "orders")
	check(verifyTotals(context.Background(), w.plan, w.store))
	// Output:
	// merchant_daily since 1 by EUR#m1 at 2099-03-01T00:00:00Z: orders is 4, and its items add up to 3
}

func verifyTotals(ctx context.Context, p *pipeline.Pipeline, st *store.Store) error {
	report, err := verify.Totals(ctx, p, st, time.Now())
	if err != nil {
		return err
	}
	for _, d := range report.Differences {
		fmt.Println(d)
	}
	for _, flagged := range report.Flagged {
		fmt.Println("flagged:", flagged)
	}
	return nil
}

// An aggregate that is added to a table in use counts new events at once. It counts older ones once
// they are touched.
func Example_rebuild() {
	ctx := context.Background()
	w := newWorld(ctx, "m1", 1250, 300, 50)
	w.deploy(func(spec *pipeline.Spec) {
		spec.Epoch = 2
		spec.Aggregates["placed"] = pipeline.AggregateSpec{Since: 2,
			From: map[string]pipeline.FromSpec{"order.placed": {Values: map[string]string{"orders": "count"}}}}
	})
	w.place("m1", 20)
	show := func() {
		totals, err := query.Of(w.store).Total(ctx, "placed", nil, time.Time{}, time.Time{})
		check(err)
		fmt.Println(totals[0].Values["orders"], "building:", totals[0].Building)
	}
	show()
	check(rebuild(ctx, w.plan, w.store, "placed", func() error { w.drain(); return nil }))
	show()
	// Output:
	// 1 building: true
	// 4 building: false
}

// rebuild brings items that are older than an aggregate into it. It needs Scan and UpdateItem on
// the events table, and GetItem, Scan and UpdateItem on the aggregates table. drained waits until
// the stream has brought what was touched. From then on nothing may write.
func rebuild(ctx context.Context, p *pipeline.Pipeline, st *store.Store, name string, drained func() error) error {
	def, ok := p.Definition(name)
	if !ok {
		return fmt.Errorf("no aggregate %s", name)
	}
	pass, err := repair.Of(st).BeginPass(ctx, def)
	if err != nil {
		return err
	}
	if _, err := repair.Of(st).Touch(ctx); err != nil {
		return err
	}
	if err := drained(); err != nil { // docs/repair.md says how to pause, and how to see that the stream is drained
		return err
	}
	differences, err := verify.Finish(ctx, p, st, pass, time.Now())
	for _, d := range differences {
		fmt.Println(d)
	}
	return err
}
