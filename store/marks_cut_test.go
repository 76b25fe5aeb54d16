package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/aggregate"
)

// An update that moves many buckets is written in parts. If a part is not proven, nothing after it
// is written: the mark of a later part would say that the earlier one is counted, too.
func TestNothingFollowsAFailedPart(t *testing.T) {
	only := func(s *setup) {
		s.Aggregates = nil
		adds(&s.Spec, `aggregates: {sizes: {since: 1, from: {order: {values: {orders: count, sizes: histogram cents}}}}}`)
	}
	invalid := &smithy.GenericAPIError{Code: "ValidationException"}
	for name, c := range map[string]struct {
		part       int   // which part fails
		err        error // how
		quarantine error
	}{
		"the first is denied":                       {1, errDenied, nil},
		"the second is denied":                      {2, errDenied, nil},
		"the first is refused and not quarantined":  {1, invalid, errors.New("the queue is gone")},
		"the second is refused and not quarantined": {2, invalid, errors.New("the queue is gone")},
	} {
		w := newWorld(t, only)
		var items events
		for i, cents := 0, 1.0; i < 250; i, cents = i+1, cents*1.06 {
			items = append(items, w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d","cents":%.4f`, i, cents), `"at":"2099-03-01T10:00:00Z"`))
		}
		sent := 0
		w.onCall = func(_ string, in any) error {
			if _, update := in.(*dynamodb.UpdateItemInput); update {
				if sent++; sent == c.part {
					return c.err
				}
			}
			return nil
		}
		a := w.store.Apply(deadline(t), w.batch(aggregate.Marks, 1, items...), answering(c.quarantine))
		w.onCall = nil
		if a.Unproven.IsZero() || sent != c.part || a.Updates != c.part-1 {
			t.Errorf("%s: %d requests, %+v", name, sent, a)
		}
		w.counts(1, items...) // delivered again
		total := w.total("sizes")
		buckets, _ := total.Buckets("sizes")
		counted := int64(0)
		for _, n := range buckets {
			counted += n
		}
		if total.N != 250 || counted != 250 || len(total.Flags) > 0 {
			t.Errorf("%s, delivered again: %d events, %d in buckets, %v", name, total.N, counted, total.Flags)
		}
	}
}
