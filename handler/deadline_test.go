package handler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// perOrder declares one total for each order, so that a batch needs as many requests as it has
// orders. It declares no total for parcels.
func perOrder(s *setup) {
	a := s.spec.Aggregates["live"]
	a.By = map[string]string{"id": "{id}"}
	s.spec.Aggregates = map[string]pipeline.AggregateSpec{"live": a}
}

// slow makes every request of one API take half a second. It returns the time when the last of them
// began.
func (w *world) slow(api string) (last func() time.Time) {
	return w.slowBy(api, 500*time.Millisecond)
}

func (w *world) slowBy(api string, by time.Duration) (last func() time.Time) {
	var mu sync.Mutex
	var at time.Time
	w.faults = []fault{{API: api, Always: true, Applies: func(any) bool {
		// The world's lock is held here. Release it while the service takes its time.
		w.mu.Unlock()
		defer w.mu.Lock()
		mu.Lock()
		at = time.Now()
		mu.Unlock()
		time.Sleep(by)
		return false
	}}}
	return func() time.Time { return at }
}

// Work on a batch stops before the function's deadline, whichever part of it takes the time. The
// answer is sent in time and names the first record that is not done. The batch that begins there
// is the rest.
func TestStreamsMargin(t *testing.T) {
	counted := func(w *world, n int) bool {
		totals, err := query.Of(w.store).Total(context.Background(), "live", map[string]string{"id": fmt.Sprint(n)}, epoch, epoch)
		if err != nil || len(totals) > 1 || len(totals) == 1 && totals[0].N != 1 {
			w.t.Fatalf("record %d: %+v, %v", n, totals, err)
		}
		return len(totals) == 1
	}
	kept := func(w *world, n int) bool {
		item, err := w.plan.Plan(envelope.Message{Body: parcel(fmt.Sprint(n), 1)})
		must.Succeed(w.t, err)
		_, err = w.Engine.S3().GetObject(context.Background(),
			&s3.GetObjectInput{Bucket: aws.String("archive"), Key: aws.String(archive.ObjectName(item))})
		return err == nil
	}
	for part, p := range map[string]struct {
		api     string
		records int           // too many for every timeout in this table
		share   time.Duration // the time that is not to be left is divided by this
		store   tables.Config
		record  func(w *world, n int) map[string]any
		done    func(w *world, n int) bool
	}{
		"totals": {"UpdateItem", 1000, 1, tables.Config{OneByOne: -1}, func(w *world, n int) map[string]any {
			return insert(n, w.image(order(fmt.Sprint(n), 1)))
		}, counted},
		"totals by statements": {"BatchExecuteStatement", 2000, 1, tables.Config{Concurrency: 1}, func(w *world, n int) map[string]any {
			return insert(n, w.image(order(fmt.Sprint(n), 1)))
		}, counted},
		"archive": {"PutObject", 600, 2, tables.Config{}, func(w *world, n int) map[string]any {
			return expiry(n, w.image(parcel(fmt.Sprint(n), 1)))
		}, kept},
	} {
		for name, c := range map[string]struct{ timeout, margin, left time.Duration }{
			"default margin":             {30 * time.Second, 0, 3 * time.Second},
			"own margin":                 {30 * time.Second, 10 * time.Second, 10 * time.Second},
			"timeout as short as margin": {3 * time.Second, 0, 1500 * time.Millisecond},
			"timeout below margin":       {4 * time.Second, 5 * time.Second, 2 * time.Second},
		} {
			t.Run(part+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, perOrder, func(s *setup) { s.env, s.store = real, p.store }).started()
					records := p.records
					if c.timeout < 10*time.Second {
						records /= 4 // too many still
					}
					var list []map[string]any
					for n := 1; n <= records; n++ {
						list = append(list, p.record(w, n))
					}
					w.streams.Margin = c.margin
					last := w.slow(p.api)
					payload := marshal(t, batch(list...))
					began := time.Now()
					ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
					defer cancel()
					answer, err := w.handleStream(ctx, payload)
					if err != nil || ctx.Err() != nil {
						t.Fatalf("answered after %s of %s: %v", time.Since(began), c.timeout, err)
					}
					if end := began.Add((c.timeout - c.left) / p.share); last().After(end) || end.Sub(last()) > 500*time.Millisecond {
						t.Errorf("the last request began after %s, and %s of %s are its part", last().Sub(began), end.Sub(began), c.timeout)
					}
					w.faults = nil
					first := 1
					for first <= records && p.done(w, first) {
						first++
					}
					if first == 1 || first > records || len(answer.BatchItemFailures) != 1 ||
						answer.BatchItemFailures[0].ItemIdentifier != sequence(first) {
						t.Fatalf("%d of %d are done, and the answer is %+v", first-1, records, answer)
					}
					w.expect(batch(list[first-1:]...), done)
					for n := 1; n <= records; n++ {
						if !p.done(w, n) {
							t.Fatalf("record %d is left out", n)
						}
					}
				})
			})
		}
	}
}

// An array that does not fit into one invocation goes on where the delivery before has ended, and
// so it ends. Each of its events that needs no put any more would else take as long as a put.
func TestLongArrayOnFIFOEnds(t *testing.T) {
	numbered := func(of func(i int) string) (list []string) {
		for i := range 1000 {
			list = append(list, of(i))
		}
		return list
	}
	plain := func(i int) string { return order(fmt.Sprint(i), 1) }
	for name, c := range map[string]struct {
		setups []func(*setup)
		before []string // delivered before the array
		list   []string
		stored int
	}{
		"orders": {list: numbered(plain), stored: 1000},
		"some are not events": {list: numbered(func(i int) string {
			if i%10 == 5 {
				return "7"
			}
			return plain(i)
		}), stored: 900},
		"every tenth is in conflict": {before: numbered(func(i int) string { return order(fmt.Sprint(i*10), 2) })[:100],
			list: numbered(plain), stored: 1000},
		"the first half is in conflict": {before: numbered(func(i int) string { return order(fmt.Sprint(i), 2) })[:500],
			list: numbered(plain), stored: 1000},
		"with parts": {setups: []func(*setup){carts}, list: numbered(func(i int) string {
			if i%3 == 0 {
				return cart(fmt.Sprint(i), "", 2)
			}
			return plain(i)
		}), stored: 1000 + 2*334},
		"with large payloads": {setups: []func(*setup){offloading}, list: numbered(func(i int) string {
			if i%3 == 0 {
				return strings.Replace(order(fmt.Sprint(i), 1, `"text":"`+strings.Repeat("lorem ", 200)+`"`), "2099-03", "2000-01", 1)
			}
			return plain(i)
		}), stored: 1000},
		"too late": {list: numbered(func(i int) string {
			if i%2 == 0 {
				return strings.Replace(plain(i), "2099", "1998", 1)
			}
			return plain(i)
		}), stored: 500},
		"of a type that has turned": {setups: []func(*setup){func(s *setup) {
			moved := s.spec.Events["order"]
			moved.Migrated = "old"
			s.spec.Events["order"] = moved
		}}, list: numbered(plain), stored: 1000},
		"revisions of one parcel": {list: numbered(func(i int) string { return parcel("1", i) })[:600], stored: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, append(c.setups, arrays, func(s *setup) { s.env = real })...)
				w.Alter(t, "totals", rows.KeyImage(rows.ControlKey("old")), "SET #n = :v", rows.Text(rows.New), "state:order")
				if len(c.before) > 0 {
					w.receive(messages(array(c.before...)))
				}
				for _, api := range []string{"PutItem", "TransactWriteItems", "BatchExecuteStatement", "BatchGetItem", "PutObject"} {
					slow := w.faults
					w.slowBy(api, 120*time.Millisecond)
					w.faults = append(slow, w.faults...)
				}
				e := inGroup(messages(array(c.list...)), ".fifo")
				deliveries := 0
				for gone := false; !gone; deliveries++ {
					if deliveries == 3 {
						t.Fatalf("it does not end: %d are stored", len(w.items()))
					}
					gone = len(w.within(t, time.Minute, e).BatchItemFailures) == 0
				}
				if n := len(w.items()); n != c.stored || deliveries < 2 {
					t.Errorf("%d are stored after %d deliveries, want %d", n, deliveries, c.stored)
				}
			})
		})
	}
}
