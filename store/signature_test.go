package store_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/tables"
)

// A process that stood still after it had judged that there was time signs its request too late.
// The request is not sent. The clock of these worlds is the process's, and the signature's is the
// machine's.
func TestSignedTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		option option
		before func(*world)
		items  string
	}{
		"one":     {trips, nil, "order 1 1"},
		"many":    {trips, nil, "order 1 1, order 2 1, order 3 1, order 4 1, order 5 1, order 6 1"},
		"a whole": {accounts, nil, "account 1 1@y 1"},
		"wholes":  {accounts, nil, "account 1 1@y 1, account 2 2@y 1"},
		"a state": {trips, func(w *world) {
			alone := *w.visit("v", "10:00", 1)
			alone.Parts = nil
			w.keep(&alone)
		}, "visit v 10:00 1"},
	} {
		for left, sent := range map[time.Duration]bool{tables.ExpiryMargin / 2: false, 10 * time.Hour: true} {
			var w *world
			w = newWorld(t, c.option, func(s *setup) {
				s.tables.Env.Sleep = func(context.Context, time.Duration) error { w.Clock.Set(time.Now()); return nil }
			})
			if c.before != nil {
				c.before(w)
			}
			server := httptest.NewServer(wire.New(w.Engine))
			t.Cleanup(server.Close)
			w.store = w.open(tables.Config{Env: w.Env, Client: dynamodb.New(dynamodb.Options{Region: "eu-west-1", BaseEndpoint: &server.URL,
				Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("AKID", "secret", ""))})})
			w.Clock.Set(time.Now().Add(-time.Hour))
			items := w.events(c.items)
			for _, item := range items {
				item.ExpiresAt = time.Now().Add(left).Unix()
				if item.Parts != nil {
					for _, part := range item.Parts.Items {
						part.ExpiresAt = item.ExpiresAt
					}
				}
			}
			meter := w.meter()
			results, _ := w.store.Put(deadline(t), items)
			writes := meter().WriteUnits()
			for _, r := range results {
				if stored := r.Verdict == event.Inserted || r.Verdict == event.Duplicate && sent; stored != sent {
					t.Errorf("%s, with %v left: %s, %v", name, left, r.Verdict, r.Refusal)
				}
			}
			if writes > 0 != sent {
				t.Errorf("%s, with %v left: %v write units", name, left, writes)
			}
		}
	}
}
