package dev

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestFunctionsWaitForRequests shows how long the functions wait after a round: while requests come
// in, but never for long.
func TestFunctionsWaitForRequests(t *testing.T) {
	for name, c := range map[string]struct {
		took   time.Duration // the round before
		every  time.Duration // between two requests; 0: there are none
		answer time.Duration // how long each takes
		target string        // the operation
		want   time.Duration
	}{
		"nothing comes":       {took: 100 * time.Millisecond, want: quiet},
		"one now and then":    {took: 100 * time.Millisecond, every: time.Minute, want: 2 * quiet},
		"one after the other": {took: 50 * time.Millisecond, every: time.Millisecond, want: behind * 50 * time.Millisecond},
		"one that takes long": {took: 50 * time.Millisecond, every: time.Hour, answer: time.Hour, want: behind * 50 * time.Millisecond},
		"a receive that waits": {took: 50 * time.Millisecond, every: time.Hour, answer: time.Hour, target: "AmazonSQS.ReceiveMessage",
			want: 2 * quiet},
		"after a round of an age": {took: time.Hour, every: time.Millisecond, want: longestBehind},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r requests
				h := r.count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(c.answer) }))
				stop := make(chan struct{})
				if c.every > 0 {
					go func() {
						for {
							q := httptest.NewRequest(http.MethodPost, "/", nil)
							q.Header.Set("X-Amz-Target", c.target)
							h.ServeHTTP(httptest.NewRecorder(), q)
							select {
							case <-stop:
								return
							case <-time.After(c.every):
							}
						}
					}()
				}
				synctest.Wait()
				began := time.Now()
				r.first(c.took, stop)
				if waited := time.Since(began); waited < c.want-quiet || waited > c.want+quiet {
					t.Errorf("the functions waited for %v, want %v", waited, c.want)
				}
				close(stop)
				began = time.Now()
				r.first(time.Hour, stop)
				if waited := time.Since(began); waited > quiet {
					t.Errorf("they waited for %v at the end", waited)
				}
				time.Sleep(c.answer) // until the sender has ended
			})
		})
	}
}
