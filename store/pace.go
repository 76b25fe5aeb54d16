package store

import "sync"

const (
	// firstPace is how many requests a call has in flight before anything is known of the table.
	firstPace = 4
	// mostPace bounds them when the table is quiet. Together with what one request and its answer may take
	// (maxAnswer), it bounds the memory of a call.
	mostPace = 16
)

// pace is how many requests go side by side: as many as the table is found to take. A throttle halves it, once for all
// the requests that were in flight then; as many quiet answers as there are requests in flight add one. It lasts from
// call to call.
type pace struct {
	mu    sync.Mutex
	limit int
	quiet int // answers since the last change; below 0: those that were in flight when a throttle came
}

// learn takes the answer to a request.
func (p *pace) learn(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.outcome == throttled {
		if p.quiet >= 0 {
			p.limit, p.quiet = max(1, p.limit/2), -p.limit
		}
		return
	}
	if p.quiet++; p.quiet >= p.limit {
		p.limit, p.quiet = min(p.limit+1, mostPace), 0
	}
}

func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// each calls do for every index below n and returns when all have returned. At most as many run side by side as the
// pace allows at the time when one begins, and never more than most or Config.Concurrency.
func (s *Store) each(n, most int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	if s.concurrency > 0 {
		most = min(most, s.concurrency)
	}
	room := func() int { return min(most, s.pace.now()) }
	var mu sync.Mutex
	next, working := 0, min(n, room())
	take := func() (i int, ok bool) { // ends a worker if it is one too many
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
	group := s.env.Group()
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
