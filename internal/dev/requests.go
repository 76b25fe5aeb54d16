package dev

import (
	"net/http"
	"sync/atomic"
	"time"
)

// requests lets what comes from outside go before both functions, which need the same processors.
// A program that sends events waits for each answer. What is in the queue can wait.
type requests struct{ begun, underWay atomic.Int64 }

// These say how long a function waits for requests.
const (
	// behind is how many times as long as a round took a mapping waits before the next one, while
	// requests come in. So the functions still do a fifteenth of what they can.
	behind = 14
	// longestBehind bounds that.
	longestBehind = time.Second
	// quiet is for how long no request must come to let the functions go on at once.
	quiet = 20 * time.Millisecond
)

// count counts what a handler answers.
func (r *requests) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.begun.Add(1)
		r.underWay.Add(1)
		defer r.underWay.Add(-1)
		h.ServeHTTP(w, q)
	})
}

// first waits while requests come in, after a round that took so long. It returns at once when stop is
// closed.
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
