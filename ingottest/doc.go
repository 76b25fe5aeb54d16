// Package ingottest runs a whole deployment in the process of your own test: the queue, both
// functions, both tables, the stream, time to live, quarantine and archive. [New] makes such a
// [World]. [EveryFault] runs your test under every fault. They test your pipeline.yaml and your
// hooks under what really happens to them: messages and changes that come twice and late, functions
// that are killed between a write and its answer, requests that are throttled, that meet another
// transaction or whose answer is lost, and stale reads.
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
// The functions are the real ones, from package handler. An engine in memory stands in for the
// services. It has their semantics: conditions and capacity, visibility timeouts, receive counts
// and redrive, shards, delivery at least once. The mappings between them do what Lambda's mappings
// do. They have the settings of template.yaml that can be seen from outside: they report single
// failures, have a window that names the shard, retry a change without limit, and receive a message
// ten times. Times and batch sizes are the world's own.
//
// A world has a clock of its own. The clock stands still, except for Advance, for the waits of
// retries, and for Drain, which moves it to the time when a message comes back. Nothing sleeps. The
// result of a test depends only on what the test does.
//
// A failure of the world itself ends the test, as t.Fatal does. For this reason no method returns
// an error.
package ingottest
