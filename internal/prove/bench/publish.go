package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

const (
	publishedEvents = 5_000
	publishedBatch  = 100 // records, as in cmd/publish/template.yaml
)

// publish measures how fast one shard is published, and in how many requests.
func (b *bench) publish(ctx context.Context) error {
	b.head("Publishing: %d events of about 1 KB from one shard, %s for each request", publishedEvents, delay)
	files, err := fs.Sub(examples.Files, "publish")
	if err != nil {
		return err
	}
	p, err := pipeline.Load(files, "pipeline.yaml")
	if err != nil {
		return err
	}
	plan, err := publish.Load(files, "publish.yaml", p)
	if err != nil {
		return err
	}
	var requests, sent atomic.Int64
	publisher, err := publish.New(plan, tables.Config{Client: &dynamodb.Client{}, Events: "events"}, func(arn string) publish.Target {
		return publish.Target{ARN: arn, Largest: 256 << 10, Send: func(_ context.Context, list []publish.Message) []error {
			time.Sleep(delay)
			requests.Add(1)
			sent.Add(int64(len(list)))
			return make([]error, len(list))
		}}
	})
	if err != nil {
		return err
	}
	var batches []json.RawMessage
	for n := range publishedEvents / publishedBatch {
		var records []string
		for i := range publishedBatch {
			records = append(records, published(n*publishedBatch+i))
		}
		batches = append(batches, json.RawMessage(`{"Records":[`+strings.Join(records, ",")+`]}`))
	}
	began := time.Now()
	for _, batch := range batches {
		if out, err := publisher.Handle(ctx, batch); err != nil || len(out.BatchItemFailures) > 0 {
			return fmt.Errorf("publish: %+v, %w", out, err)
		}
	}
	took := time.Since(began)
	b.note("batches of %d: %s events a second, %.2f requests for 10 events", publishedBatch, short(float64(sent.Load())/took.Seconds()),
		float64(requests.Load())/float64(sent.Load())*10)
	b.atLeast("events a second of publishing, one shard", float64(sent.Load())/took.Seconds(), 1000)
	b.atLeast("events for each request", float64(sent.Load())/float64(requests.Load()), 9.9)
	return nil
}

// published is the record of an event that is stored.
func published(i int) string {
	return fmt.Sprintf(`{"eventSourceARN":"arn","eventName":"INSERT","dynamodb":{"SequenceNumber":"%024d",`+
		`"ApproximateCreationDateTime":1935900000,`+
		`"Keys":{"PK":{"S":"ORDER#%[1]d"},"SK":{"S":"ORDER"}},"NewImage":{"PK":{"S":"ORDER#%[1]d"},"SK":{"S":"ORDER"},`+
		`"type":{"S":"order.placed"},"id":{"S":"%[1]d"},"at":{"S":"2031-05-05T06:00:00.000000000Z"},"epoch":{"N":"1"},`+
		`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"data":{"S":"{\"order_id\":\"%[1]d\",\"note\":\"%s\"}"}}}}`, i+1,
		strings.Repeat("x", 900))
}
