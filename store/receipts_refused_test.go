package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

var errUnforeseen = &smithy.GenericAPIError{Code: "ValidationException", Message: "something that no rule foresees"}

// refusing makes the service refuse every whole transaction for which bad holds.
func refusing(bad func([]types.TransactWriteItem) error) func(string, any) error {
	return func(_ string, in any) error {
		if tx, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
			return bad(tx.TransactItems)
		}
		return nil
	}
}

// puts counts the receipts of a transaction.
func puts(items []types.TransactWriteItem) (n int) {
	for _, item := range items {
		if item.Put != nil {
			n++
		}
	}
	return n
}

// A transaction that is refused as a whole, or cancelled without a reason, is halved until its
// parts are taken. Nothing is quarantined, everything is counted, and the accounts agree with the
// engine's.
func TestRefusedTransactionsAreHalved(t *testing.T) {
	silent := &types.TransactionCanceledException{Message: aws.String("Transaction cancelled"),
		CancellationReasons: []types.CancellationReason{}}
	for name, tt := range map[string]struct {
		refusal  error
		requests int // for eight changes, at most three at a time: two levels of halves, and one wrong guess
		retries  int
	}{
		"refused whole":      {errUnforeseen, 1 + 2 + 4 + 1, 0},
		"cancelled silently": {silent, 3*(1+2) + 4 + 1, 2 * (1 + 2)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, counting(aggregate.Receipts))
			w.onCall = refusing(func(items []types.TransactWriteItem) error {
				if puts(items) > 3 {
					return tt.refusal
				}
				return nil
			})
			items := w.orders(0, 8)
			meter := w.meter()
			a := w.apply(w.batch(aggregate.Receipts, 1, items...))
			used := meter()
			if a.Cost.Requests != tt.requests || a.Cost.Retries != tt.retries || a.Refused != 0 || a.Dropped != 0 {
				t.Errorf("%+v, want %d requests and %d retries", a, tt.requests, tt.retries)
			}
			if name == "refused whole" && a.Cost.WriteUnits != used.WriteUnits() {
				t.Errorf("own accounts say %v write units, the engine %v", a.Cost.WriteUnits, used.WriteUnits())
			}
			w.expect("by_merchant", "orders 8, revenue 28, largest 7, least 0")
			w.expect("live", "orders 8, revenue 28")
			if a := w.apply(w.batch(aggregate.Receipts, 3, items[2:3]...)); a.Updates != 0 || a.Dropped != 1 {
				t.Errorf("delivered again: %+v", a)
			}
		})
	}
}

// Totals that together are too large for a transaction are written in several. The service's rule
// does not say whether its 4 MB apply to the request or to the items that it updates. If they apply
// to the items, at most ten large items fit.
func TestTransactionsOfLargeItems(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	w.onCall = refusing(func(in []types.TransactWriteItem) error {
		if len(in)-puts(in) > 10 {
			return errUnforeseen
		}
		return nil
	})
	var items events
	for i := range 12 {
		items = append(items, w.orderOf(fmt.Sprint("m", i), fmt.Sprint(i), 5))
	}
	a := w.apply(w.batch(aggregate.Receipts, 1, items...))
	if a.Cost.Requests != 1+2+4 || a.Cost.Retries != 0 || a.Refused != 0 { // for 25 and 13 totals, and then for 7
		t.Errorf("%+v, want the whole and both halves refused, and four quarters done", a)
	}
	w.expect("live", "orders 12")
	for i := range items {
		if got := w.total("by_merchant", "merchant", fmt.Sprint("m", i)); got.N != 1 || len(got.Flags) > 0 {
			t.Errorf("m%d: %+v", i, got)
		}
	}
}

// A single change whose transaction is refused as a whole blocks nothing. Its totals are
// quarantined once each and flagged. If the flags are refused as well, the heads are flagged. The
// receipt is written, and the changes beside it count.
func TestRefusedChange(t *testing.T) {
	for name, tt := range map[string]struct {
		refuses func(items []types.TransactWriteItem) bool // whether it refuses a transaction that holds the bad change's receipt
		flagged bool                                       // the totals are flagged; otherwise the heads
		proven  bool
	}{
		"its values": {func(items []types.TransactWriteItem) bool {
			return strings.Contains(*items[len(items)-1].Update.UpdateExpression, "ADD")
		}, true, true},
		"its totals":       {func(items []types.TransactWriteItem) bool { return len(items) > 1 }, false, true},
		"even its receipt": {func([]types.TransactWriteItem) bool { return true }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var badReceipt string
			w := newWorld(t, counting(aggregate.Receipts))
			w.onCall = refusing(func(items []types.TransactWriteItem) error {
				for _, item := range items {
					if item.Put != nil && rows.TextOf(item.Put.Item["PK"]) == badReceipt && tt.refuses(items) {
						return errUnforeseen
					}
				}
				return nil
			})
			w.start()
			items := w.events("order 1 1, order 2 20, order 3 300, order 4 4000")
			badReceipt = lanes.ReceiptKey(lane.StreamARN, items[2].Key, w.sequence(3)).PK
			refused := map[string]int{}
			quarantine := func(_ context.Context, u *lanes.Update, cause error) error {
				refused[u.Key.String()]++
				if len(u.Steps) != 1 || u.Steps[0].Sequence.Compare(w.sequence(3)) != 0 ||
					!strings.Contains(cause.Error(), "refused as a whole") || !strings.Contains(awserr.Detail(cause), "no rule foresees") {
					t.Errorf("%s: %d steps, %v", u.Key, len(u.Steps), cause)
				}
				return nil
			}
			a := w.store.Apply(deadline(t), w.batch(aggregate.Receipts, 1, items...), quarantine)
			if a.Unproven.IsZero() != tt.proven {
				t.Fatalf("unproven %s: %v", a.Unproven, a.Err)
			}
			if !tt.proven && a.Unproven.Compare(w.sequence(3)) != 0 {
				t.Errorf("unproven from %s, want from 3", a.Unproven)
			}
			if len(refused) != 3 || a.Refused != 3 || w.slept > 0 {
				t.Errorf("quarantined %v, %d refused, %d waits", refused, a.Refused, w.slept)
			}
			if got := w.total("live"); got.N != 3 || got.Values["revenue"].String() != "4021" || len(got.Flags) != 1 ||
				strings.Contains(got.Flags[0], "an update was refused") != tt.flagged {
				t.Errorf("%+v", got)
			}
			def, _ := w.plan.Definition("live")
			if flag := head(t, w.store, def).Flag; strings.Contains(flag, "takes no more updates") == tt.flagged {
				t.Errorf("head's flag %q", flag)
			}
			if !tt.proven {
				return
			}
			// The change may be quarantined a second time, because it is refused before its receipt
			// is looked at. It is never counted.
			if a := w.store.Apply(deadline(t), w.batch(aggregate.Receipts, 1, items...), quarantine); !a.Unproven.IsZero() ||
				a.Updates != 0 {
				t.Errorf("delivered again: %+v", a)
			}
		})
	}
}

// A quarantine that fails leaves the change unproven and its receipt unwritten.
func TestRefusedChangeIsNotQuarantined(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	w.onCall = refusing(func([]types.TransactWriteItem) error { return errUnforeseen })
	a := w.store.Apply(context.Background(), w.batch(aggregate.Receipts, 1, w.order("1", 5)), answering(errLost))
	if a.Unproven.Compare(w.sequence(1)) != 0 || a.Refused != 0 {
		t.Errorf("%+v", a)
	}
	key := lanes.ReceiptKey(lane.StreamARN, under("ORDER#1", "ORDER"), w.sequence(1))
	if got := w.stored("totals", key); got != nil {
		t.Errorf("its receipt is there: %v", got)
	}
}

// A correction by hand can move an event from one total to another in every aggregate at once. Then
// it may not fit a transaction, which store.New cannot foresee. It is quarantined and flagged, and
// what follows it counts.
func TestCorrectionThatDoesNotFit(t *testing.T) {
	const many = 60
	w := newWorld(t, counting(aggregate.Receipts), func(s *setup) {
		s.Aggregates = map[string]pipeline.AggregateSpec{}
		for i := range many {
			s.Aggregates[fmt.Sprint("a", i)] = pipeline.AggregateSpec{Since: 1, By: map[string]string{"merchant": "{merchant}"},
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
		}
	})
	w.start()
	was, is, next := w.order("1", 5), w.item(`"type":"order"`, `"id":"1"`, `"merchant":"other"`, `"cents":5`,
		`"at":"2099-03-01T10:00:00Z"`), w.order("2", 7)
	w.apply(w.batch(aggregate.Receipts, 1, was))
	b := w.change(2, event.Modify, false, was, is)
	b.Add(w.insert(3, next), nil, w.plan.Contributions(next).List)
	refused := map[string]bool{}
	a := w.store.Apply(deadline(t), b, func(_ context.Context, u *lanes.Update, _ error) error {
		refused[u.Key.String()] = true
		return nil
	})
	if !a.Unproven.IsZero() || len(refused) != 2*many || a.Refused != 2*many {
		t.Fatalf("unproven %s (%v), %d quarantined, %d refused", a.Unproven, a.Err, len(refused), a.Refused)
	}
	for i := range many {
		got := w.total(fmt.Sprint("a", i), "merchant", "m")
		if got.N != 2 || len(got.Flags) != 1 || !strings.Contains(got.Flags[0], "refused as a whole") {
			t.Fatalf("a%d: %+v", i, got)
		}
	}
	if a := w.store.Apply(deadline(t), w.batch(aggregate.Receipts, 3, next), noQuarantine(t)); a.Updates != 0 || a.Dropped != 1 {
		t.Errorf("delivered again: %+v", a)
	}
}

// A transaction asks for the old image of an item only if a condition on that item can fail.
func TestTransactionsAskForNoNeedlessImages(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts))
	asked, not := 0, 0
	w.onCall = func(_ string, in any) error {
		tx, ok := in.(*dynamodb.TransactWriteItemsInput)
		if !ok {
			return nil
		}
		for _, item := range tx.TransactItems {
			if item.Put != nil {
				must.Equal(t, item.Put.ReturnValuesOnConditionCheckFailure, "")
				continue
			}
			asks := item.Update.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld
			if asks != (item.Update.ConditionExpression != nil) {
				t.Errorf("%s with condition %s: asked for %v", item.Update.Key["PK"], aws.ToString(item.Update.ConditionExpression), asks)
			}
			if asks {
				asked++
			} else {
				not++
			}
		}
		return nil
	}
	for i := range 3 {
		w.apply(w.batch(aggregate.Receipts, int64(1+i), w.order(fmt.Sprint(i), i)))
	}
	if asked == 0 || not == 0 {
		t.Errorf("%d updates ask and %d do not", asked, not)
	}
}
