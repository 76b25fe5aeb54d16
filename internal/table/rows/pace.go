package rows

import "sync"

const (
	// firstPace is how many requests a call has in flight before anything is known of the table.
	firstPace = 4
	// MostPace bounds that number when the table is quiet. Together with the size of one request
	// and its answer (MaxAnswer), it bounds the memory of a call.
	MostPace = 16
)

// pace is how many requests run at the same time: as many as the table seems to take. A throttle
// halves it, but only once for all requests that were in flight then. It grows by one after as many
// answers without a throttle as there are requests in flight. It is kept from call to call.
type pace struct {
	mu    sync.Mutex
	limit int
	quiet int // answers since the last change; below 0: answers to requests that were in flight when a throttle came
}

// Learn adjusts the pace to the answer of a request.
func (p *pace) Learn(a Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Outcome == Throttled {
		if p.quiet >= 0 {
			p.limit, p.quiet = max(1, p.limit/2), -p.limit
		}
		return
	}
	if p.quiet++; p.quiet >= p.limit {
		p.limit, p.quiet = min(p.limit+1, MostPace), 0
	}
}

func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// Each calls do for every index below n and returns when all calls have returned. When a call
// begins, no more calls run at the same time than the pace allows then, and never more than most or
// Config.Concurrency.
func (s *Tables) Each(n, most int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	if s.concurrency > 0 {
		most = min(most, s.concurrency)
	}
	room := func() int { return min(most, s.Pace.now()) }
	var mu sync.Mutex
	next, working := 0, min(n, room())
	take := func() (i int, ok bool) { // it ends a worker if too many are running
		mu.Lock()
		defer mu.Unlock()
		if next >= n || (working > room() && working > 1) {
			working--
			return 0, false
		}
		next++
		return next - 1, true
	}
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || working >= room() {
			return false
		}
		working++
		return true
	}
	group := s.Env.Group()
	var work func()
	work = func() {
		for i, ok := take(); ok; i, ok = take() {
			do(i)
			if more() {
				group.Go(work)
			}
		}
	}
	for range min(n, room()) {
		group.Go(work)
	}
	group.Wait()
}
