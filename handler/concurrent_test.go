package handler_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// Lambda may run several invocations in one process. Run this test with -race.
func TestHandlersAtOnce(t *testing.T) {
	for w := range bothWorlds(t) {
		w.ingest.OnResult, w.ingest.OnBatch, w.streams.OnBatch = nil, nil, nil
		w.ingest.Log, w.streams.Log = nil, nil
		var group sync.WaitGroup
		for n := range 6 {
			// All put the same order, a conflict with it, an order of their own, and poison.
			e := messages(order("same", 1), order("same", 2), order(fmt.Sprint("own-", n), 1), "poison", order(fmt.Sprint("more-", n), 1))
			if n%2 == 0 {
				inGroups(e, ".fifo", "01")
			}
			group.Go(func() {
				answer, err := w.handleQueue(deadline(t), e)
				if err != nil || len(answer.BatchItemFailures) != 0 {
					t.Errorf("%+v %v", answer, err)
				}
			})
			shard := batch(insert(1, w.image(order(fmt.Sprint("x", n), 1))),
				insert(2, w.image(order(fmt.Sprint("y", n), 2)).with("odd", "Z", 1)), expiry(3, w.image(order(fmt.Sprint("z", n), 4))))
			shard["shardId"] = fmt.Sprint("shard-", n)
			payload := marshal(t, shard)
			group.Go(func() {
				answer, err := w.handleStream(deadline(t), payload)
				if err != nil || len(answer.BatchItemFailures) != 0 {
					t.Errorf("%+v %v", answer, err)
				}
			})
		}
		group.Wait()
		items := w.items()
		if len(items) != 1+6+6 || items[event.Key{PK: "ORDER#same", SK: "ORDER"}] != 1 {
			t.Errorf("%d items", len(items))
		}
		must.Equal(t, len(w.quarantined()), 6*2+6)
		must.Equal(t, len(w.archived()), 6)
		if total := w.total("totals"); total.Values["orders"].String() != "6" || total.Values["revenue"].String() != "6" {
			t.Errorf("%+v", total)
		}
	}
}
