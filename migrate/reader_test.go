package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/migrate"
)

// shelf is a table of texts under numbers. A key that fails has the value "!", and one that is
// erased "-".
type shelf struct {
	mu    sync.Mutex
	texts map[int]string
	reads int
}

var errShelf = errors.New("the shelf fails")

func (s *shelf) read(_ context.Context, key int) (migrate.Answer[string], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	switch text, ok := s.texts[key]; text {
	case "!":
		return migrate.Answer[string]{}, errShelf
	case "-":
		return migrate.Answer[string]{Erased: true}, nil
	default:
		return migrate.Answer[string]{Value: text, Found: ok}, nil
	}
}

func (s *shelf) set(key int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[key] = text
}

func reading(old, now map[int]string, stage migrate.Stage) (*migrate.Reader[int, string], *shelf, *shelf, *[]int) {
	a, b, differ := &shelf{texts: old}, &shelf{texts: now}, []int{}
	return &migrate.Reader[int, string]{Old: a.read, New: b.read, Name: strconv.Itoa,
		Equal: func(a, b string) bool { return a == b },
		Stage: func() migrate.Stage { return stage },
		OnDiffer: func(_ context.Context, key int, _, _ migrate.Answer[string]) {
			a.mu.Lock()
			defer a.mu.Unlock()
			differ = append(differ, key)
		}}, a, b, &differ
}

// Which table answers, and what the caller sees, follows from the stage alone.
func TestReaderStages(t *testing.T) {
	const old, now, nothing, failure = "old", "new", "", "failure"
	type want = map[int]string // by key
	keys := func() (a, b map[int]string) {
		return map[int]string{1: old, 2: old, 3: old, 4: old, 5: "!"}, map[int]string{1: now, 2: "!", 3: "-", 5: now, 6: now}
	}
	for name, tt := range map[string]struct {
		stage migrate.Stage
		want  want
	}{
		"old alone": {migrate.Stage{Alone: true}, want{1: old, 2: old, 3: old, 4: old, 5: failure, 6: nothing}},
		"old":       {migrate.Stage{}, want{1: old, 2: old, 3: old, 4: old, 5: failure, 6: nothing}},
		"one name": {migrate.Stage{Names: map[string]bool{"1": true, "2": true, "3": true}},
			want{1: now, 2: old, 3: nothing, 4: old, 5: failure, 6: nothing}},
		"all":       {migrate.Stage{New: 100}, want{1: now, 2: old, 3: nothing, 4: old, 5: now, 6: now}},
		"new alone": {migrate.Stage{New: 100, Alone: true}, want{1: now, 2: failure, 3: nothing, 4: nothing, 5: now, 6: now}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := keys()
				r, left, right, _ := reading(a, b, tt.stage)
				for key, want := range tt.want {
					got, err := r.Get(t.Context(), key)
					if err != nil {
						got.Value = failure
					}
					if got.Value != want || got.Found != (want == old || want == now) {
						t.Errorf("key %d: %+v, want %q", key, got, want)
					}
				}
				r.Wait()
				if c := r.Counts(); c.FromOld+c.FromNew != int64(len(tt.want)) {
					t.Errorf("%+v", c)
				}
				if tt.stage.Alone && left.reads > 0 && right.reads > 0 {
					t.Errorf("both tables are asked: %d and %d times", left.reads, right.reads)
				}
			})
		})
	}
}

// A difference counts if it lasts. One that capture mends meanwhile, and an erased event, are none.
func TestReaderCompares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, old, now, differ := reading(map[int]string{1: "a", 2: "a", 3: "a", 4: "a"}, map[int]string{1: "a", 2: "b", 3: "b", 4: "-"},
			migrate.Stage{})
		ctx, done := context.WithCancel(t.Context())
		for key := range 6 {
			if _, err := r.Get(ctx, key); err != nil {
				t.Error(err)
			}
		}
		done() // the caller does not wait for the comparison
		time.Sleep(time.Second)
		old.set(3, "c")
		now.set(3, "c")
		r.Wait()
		if c := r.Counts(); c.Compared != 6 || c.Differ != 1 || c.Unread != 0 || fmt.Sprint(*differ) != "[2]" {
			t.Errorf("%+v, and they differ in %v", c, *differ)
		}
	})
}

// Comparisons take only so much room. Those that find none are counted.
func TestReaderLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _, _ := reading(map[int]string{}, map[int]string{}, migrate.Stage{})
		r.Parallel = 3
		r.New = func(ctx context.Context, _ int) (migrate.Answer[string], error) {
			<-ctx.Done() // until the time of a comparison is over
			return migrate.Answer[string]{}, ctx.Err()
		}
		for key := range 10 {
			if _, err := r.Get(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
		r.Wait()
		if c := r.Counts(); c.Unread != 10 || c.Compared != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// A share of the keys is the same share each time, grows by keys that were not in it, and is about
// as large as it says.
func TestReaderShares(t *testing.T) {
	taken := map[int]bool{}
	for _, share := range []int{1, 10, 50, 100} {
		n := 0
		r, _, now, _ := reading(map[int]string{}, map[int]string{}, migrate.Stage{New: share})
		r.Parallel = -1 // no comparison
		for key := range 10_000 {
			before := now.reads
			_, err := r.Get(t.Context(), key)
			must.Succeed(t, err)
			asked := now.reads > before
			if taken[key] && !asked {
				t.Fatalf("key %d is in a smaller share, and not in %d %%", key, share)
			}
			if taken[key] = asked; asked {
				n++
			}
		}
		if n < share*80 || n > share*120 {
			t.Errorf("%d %% of 10,000 keys are %d", share, n)
		}
	}
}
