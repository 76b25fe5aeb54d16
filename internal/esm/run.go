package esm

import "sync"

// each calls do for 0 to n-1, at most concurrency calls at a time. If concurrency is 1, the calls
// run in order on the caller's goroutine. each returns when all calls have returned.
func each(n, concurrency int, do func(i int)) {
	if concurrency <= 1 || n <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, concurrency)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}
