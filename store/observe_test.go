package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// An update asks for the whole item only if the last look is an hour old in stream time. Between
// looks the answers are short, the guesses are right, and the accounts are true.
func TestItemIsAskedForOnceAnHour(t *testing.T) {
	var asked atomic.Int32
	w := newWorld(t)
	w.onCall = requests("UpdateItem", func(in any) {
		if in.(*dynamodb.UpdateItemInput).ReturnValues == types.ReturnValueAllNew {
			asked.Add(1)
		}
	})
	largest := 0
	for i := range 12 {
		asked.Store(0)
		largest = max(largest, i*37%100)
		meter := w.meter()
		a := w.counts(int64(i+1), w.order(fmt.Sprint(i), i*37%100))
		used := meter()
		if want := map[bool]int32{true: 3, false: 0}[i%6 == 0]; asked.Load() != want {
			t.Errorf("batch %d: %d of 3 updates ask for the item, want %d", i, asked.Load(), want)
		}
		if used.Requests["UpdateItem"] != 3 || a.Cost.WriteUnits != used.WriteUnits() {
			t.Errorf("batch %d: %v, own accounts %v write units, the engine %v", i, used.Requests, a.Cost.WriteUnits, used.WriteUnits())
		}
		w.expect("by_merchant", fmt.Sprintf("largest %d, least 0, orders %d", largest, i+1))
		w.Clock.Pass(10 * time.Minute)
	}
}

// A sketch and a newest value may be larger after each update. The own accounts follow them,
// although the item is not read again.
func TestCostOfValuesThatGrow(t *testing.T) {
	for _, single := range []int{0, -1} {
		w := newWorld(t, oneByOne(single), func(s *setup) {
			s.Aggregates = nil
			adds(&s.Spec, `aggregates: {values: {since: 1, from: {order: {values: {ids: distinct id, last: newest note}}}}}`)
		})
		w.start()
		id, most := int64(0), 0.0
		for n := range 12 {
			b := lanes.NewBatch(aggregate.Marks, lane)
			for range 100 {
				id++
				at := epoch.Add(time.Duration(id) * time.Millisecond).Format(time.RFC3339Nano)
				item := w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d","merchant":"m","cents":1,"at":%q,"note":%q`, id, at,
					strings.Repeat("x", 80*n)))
				b.Add(w.insert(id, item), nil, w.plan.Contributions(item).List)
			}
			meter := w.meter()
			a := w.apply(b)
			used := meter().WriteUnits()
			if most = max(most, used); used != a.Cost.WriteUnits {
				t.Errorf("batch %d: own accounts say %v write units, the engine %v", n, a.Cost.WriteUnits, used)
			}
		}
		if most < 4 {
			t.Errorf("no update took more than %v units", most)
		}
	}
}
