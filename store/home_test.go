package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// in returns a store over w's tables in a Region.
func (w *world) in(region string) *store.Store {
	w.t.Helper()
	p, err := pipeline.New(orders())
	must.Succeed(w.t, err)
	return w.open(tables.Config{Pipeline: p, Region: region,
		Env: env.Env{Sleep: func(context.Context, time.Duration) error { return nil }}})
}

// home returns the Region that the events table names.
func (w *world) home() string {
	w.t.Helper()
	return rows.TextOf(w.stored("events", lanes.HomeKey)["region"])
}

// The first function that starts makes its Region the home, however the answers go. A function of
// another Region is refused, on both sides, and changes nothing.
func TestHome(t *testing.T) {
	ingest := func(s *store.Store) error { return s.Inside().Heads.CheckHome(deadline(t)) }
	streams := func(s *store.Store) error { return s.Start(deadline(t)) }
	for name, starts := range map[string][2]func(*store.Store) error{"ingest, ingest": {ingest, ingest},
		"ingest, streams": {ingest, streams}, "streams, ingest": {streams, ingest}, "streams, streams": {streams, streams}} {
		for fault, f := range map[string][]fault{"none": nil,
			"refused": {{API: "GetItem", Before: errLost}, {API: "PutItem", Before: errLost}},
			"lost":    {{API: "GetItem", After: errLost}, {API: "PutItem", After: errLost}}} {
			t.Run(name+" "+fault, func(t *testing.T) {
				w := newWorld(t)
				w.faults = f
				if err := starts[0](w.in("us-east-1")); err != nil || w.home() != "us-east-1" {
					t.Fatalf("the first: %v, and the home is %q", err, w.home())
				}
				var elsewhere *tables.HomeError
				err := starts[1](w.in("eu-west-1"))
				if !errors.As(err, &elsewhere) || *elsewhere != (tables.HomeError{Table: "events", Home: "us-east-1", Here: "eu-west-1"}) {
					t.Errorf("another Region: %v", err)
				}
				if err := starts[1](w.in("us-east-1")); err != nil || w.home() != "us-east-1" {
					t.Errorf("the home again: %v", err)
				}
			})
		}
	}
}

// Of functions that start at once in two Regions, those of one Region go on.
func TestHomeAtOnce(t *testing.T) {
	w := newWorld(t)
	errs := make([]error, 8)
	var group sync.WaitGroup
	for n := range errs {
		s := w.in([]string{"us-east-1", "eu-west-1"}[n%2])
		group.Go(func() { errs[n] = s.Inside().Heads.CheckHome(deadline(t)) })
	}
	group.Wait()
	home := w.home()
	for n, err := range errs {
		here := []string{"us-east-1", "eu-west-1"}[n%2]
		if (err == nil) != (here == home) {
			t.Errorf("in %s, where the home is %s: %v", here, home, err)
		}
	}
}

// The check costs a request for each process, and one more for the first of all. Where no Region is
// given, nobody asks, and nothing is written.
func TestHomeCost(t *testing.T) {
	w := newWorld(t)
	asked := 0
	w.onCall = func(api string, _ any) error { asked++; return nil }
	for i, want := range []int{2, 1, 1} {
		s := w.in("us-east-1")
		for range 3 {
			must.Succeed(t, s.Inside().Heads.CheckHome(deadline(t)))
		}
		must.Equal(t, asked, want, i)
		asked = 0
	}
	if err := w.in("").Inside().Heads.CheckHome(deadline(t)); err != nil || asked != 0 {
		t.Errorf("without a Region: %v, %d requests", err, asked)
	}
}

// A function that is warm when its home is moved stores and counts for five more minutes at the
// most.
func TestHomeIsMoved(t *testing.T) {
	for name, check := range map[string]func(*store.Store) error{
		"ingest":  func(s *store.Store) error { return s.Inside().Heads.CheckHome(deadline(t)) },
		"streams": func(s *store.Store) error { return s.Inside().Heads.Renew(deadline(t)) },
	} {
		w := newWorld(t)
		p, _ := pipeline.New(orders())
		s := w.open(tables.Config{Pipeline: p, Region: "us-east-1",
			Env: w.Clock.Env(func() float64 { return 0 })})
		for range 2 { // the second Renew knows the epoch, and need not start again
			must.Succeed(t, check(s))
			w.Clock.Pass(5*time.Minute + time.Second)
		}
		must.Succeed(t, check(s))
		w.alterHome("eu-west-1")
		w.Clock.Pass(5 * time.Minute)
		if err := check(s); err != nil {
			t.Errorf("%s: asked again within five minutes: %v", name, err)
		}
		w.Clock.Pass(time.Second)
		for range 2 {
			if elsewhere := (*tables.HomeError)(nil); !errors.As(check(s), &elsewhere) {
				t.Errorf("%s goes on in a Region that is no longer the home", name)
			}
		}
		w.alterHome("us-east-1")
		if err := check(s); err != nil {
			t.Errorf("%s: moved back: %v", name, err)
		}
	}
}

// alterHome moves the home, as a person does.
func (w *world) alterHome(region string) {
	w.write("events", lanes.HomeKey, attrs{"region": textValue(region)})
}

// What keeps a function from reading the home is an error that names the table.
func TestHomeUnread(t *testing.T) {
	w := newWorld(t)
	w.onCall = func(string, any) error {
		return errDenied
	}
	err := w.in("us-east-1").Inside().Heads.CheckHome(deadline(t))
	if err == nil || !strings.HasPrefix(err.Error(), "the home Region of the events table events: ") {
		t.Error(err)
	}
}
