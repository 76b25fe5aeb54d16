// Package ingottest runs a whole deployment in the test's own process: the queue, both functions, both tables,
// the stream, time to live, quarantine and archive. It tests your pipeline.yaml, and your hooks, under what
// really happens to them: messages and changes that come twice and late, functions that are killed between a
// write and its answer, requests that are throttled or whose answer is lost, reads that are stale.
//
//	func TestOrders(t *testing.T) {
//		w := ingottest.New(t, ingottest.Config{Pipeline: p})
//		w.Send(`{"type": "order.placed", …}`)
//		w.Crash(ingottest.Ingest, 1) // right after its first request, which was carried out
//		w.Drain()
//		w.Redeliver()
//		w.Drain()
//		w.Verify()
//		…w.Items(), w.Total(…), w.Quarantined()…
//	}
//
// The functions are the real ones, from package handler. What stands in for the services is an engine in memory
// with their semantics: conditions and capacity, visibility timeouts, receive counts and redrive, shards, at
// least one delivery. The mappings between them do what Lambda's do, set up as in template.yaml as far as it shows:
// answers with what failed, a window that names the shard, no limit to the retries of a change, ten receives of a
// message. Times and batch sizes are the world's own.
//
// A world has a clock of its own. It stands still, but for Advance, for the waits of retries, and for Drain,
// which moves it on to when a message comes back. Nothing sleeps, and a test is a pure function of what it does.
//
// A failure of the world itself ends the test, as t.Fatal does; so no method returns an error.
package ingottest
