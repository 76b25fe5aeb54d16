package dev

import (
	"net/http"
	"sync/atomic"
	"time"
)

// requests gives requests from outside priority over both functions, which need the same
// processors. A program that sends events waits for each answer, but messages in the queue can
// wait.
type requests struct{ begun, underWay atomic.Int64 }

// These say how long a function waits for requests.
const (
	// behind says how long a mapping waits between two rounds while requests come in: behind times
	// as long as the last round took. So the functions still do a fifteenth of what they could.
	behind = 14
	// longestBehind limits that wait.
	longestBehind = time.Second
	// quiet is how long no request must have come in until the functions go on without waiting.
	quiet = 20 * time.Millisecond
)

// count counts the requests to a handler. A receive may wait for the functions, so they do not wait
// for its end.
func (r *requests) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.begun.Add(1)
		if q.Header.Get("X-Amz-Target") == "AmazonSQS.ReceiveMessage" {
			h.ServeHTTP(w, q)
			return
		}
		r.underWay.Add(1)
		defer r.underWay.Add(-1)
		h.ServeHTTP(w, q)
	})
}

// first is called after a round of a mapping, which took so long. It waits while requests come in,
// and returns at once when stop is closed.
func (r *requests) first(took time.Duration, stop <-chan struct{}) {
	most := min(behind*took, longestBehind)
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	began, seen := time.Now(), int64(-1)
	for time.Since(began) < most {
		now := r.begun.Load()
		if now == seen && r.underWay.Load() == 0 {
			return
		}
		seen = now
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}
