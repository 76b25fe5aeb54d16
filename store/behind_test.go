package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// heads watches what is written to heads, and runs a function before a chosen request.
type heads struct {
	mu        sync.Mutex
	writes    int // accepted writes of heads
	refuse    int // how many more writes of heads are throttled
	requests  int
	at        int // the request before which meanwhile runs; 0: no request
	meanwhile func()
}

func (h *heads) watch(w *world) {
	w.onCall = func(api string, in any) error {
		if run := h.due(); run != nil {
			run()
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		update, ok := in.(*dynamodb.UpdateItemInput)
		if !ok || !strings.HasPrefix(rows.TextOf(update.Key["PK"]), "G#") {
			return nil
		}
		if h.refuse > 0 {
			h.refuse--
			return errThrottled
		}
		h.writes++
		return nil
	}
}

// due counts a request and returns what to run before it. That may send requests itself.
func (h *heads) due() (run func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.requests++; h.requests == h.at {
		run, h.at = h.meanwhile, 0
	}
	return run
}

// sandbox returns a function that has just started and remembers nothing.
func (w *world) sandbox(n int) *store.Store {
	world := env.Env{Rand: func() float64 { return float64(n%lanes.PassShards) / lanes.PassShards },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	return w.open(tables.Config{Concurrency: 1,
		Env: world})
}

// Many shards have batches that all bring images below a generation. They tell its head only a few
// times in each pass, however many batches and functions there are, and also if the head is
// throttled for a while.
func TestHeadIsToldAFewTimesInAPass(t *testing.T) {
	w := newWorld(t)
	w.start()
	def, _ := w.plan.Definition("live")
	var h heads
	h.watch(w)
	for pass := range 3 {
		h.writes, h.refuse = 0, 40
		for n := range 400 {
			cost, err := w.sandbox(n).Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def})
			must.Succeed(t, err)
			if n >= lanes.PassShards && (cost.Requests != 1 || cost.WriteUnits != 0 || cost.ReadUnits != 1) {
				t.Fatalf("pass %d, batch %d costs %+v", pass, n, cost)
			}
		}
		must.Equal(t, h.writes, lanes.PassShards, pass)
		begun, err := w.repair().BeginPass(deadline(t), def)
		must.Succeed(t, err)
		if pass == 2 {
			if err := w.repair().ClearBuilding(deadline(t), def, begun.Behind); err != nil || head(t, w.store, def).Building {
				t.Errorf("a pass in which nothing came in does not end: %v", err)
			}
		}
	}
}

// A head does not count as told if it could not be told.
func TestHeadThatCouldNotBeTold(t *testing.T) {
	w := newWorld(t)
	w.start()
	def, _ := w.plan.Definition("live")
	w.fails("UpdateItem", errDenied)
	if _, err := w.sandbox(3).Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def}); err == nil ||
		head(t, w.store, def).Building {
		t.Fatalf("told: %v", err)
	}
	if _, err := w.sandbox(3).Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def}); err != nil ||
		!head(t, w.store, def).Building {
		t.Fatalf("not told: %v", err)
	}
}

// Everything that comes in after a pass has begun keeps the pass from ending well. This holds in
// whatever order the requests of the pass, of a batch before it and of a batch after it come, and
// whatever was marked before.
func TestNothingIsLetInUnseen(t *testing.T) {
	for _, marked := range []string{"never", "before", "in the last pass"} {
		for _, outer := range []string{"mark", "pass"} {
			for at := 1; at <= 2+lanes.PassShards+2; at++ {
				w := newWorld(t)
				w.start()
				def, _ := w.plan.Definition("live")
				defs := []*aggregate.Definition{def}
				mark := func() {
					if _, err := w.sandbox(3).Inside().Heads.MarkBehind(deadline(t), defs); err != nil {
						t.Error(err)
					}
				}
				var pass tables.Pass
				begin := func() {
					var err error
					if pass, err = repair.Of(w.sandbox(0)).BeginPass(deadline(t), def); err != nil {
						t.Error(err)
					}
				}
				if marked != "never" {
					mark()
				}
				if marked == "in the last pass" {
					begin()
					mark()
				}
				h := heads{at: at, meanwhile: begin}
				h.watch(w)
				if outer == "mark" {
					mark()
				} else {
					h.meanwhile = mark
					begin()
				}
				if h.at != 0 && outer == "mark" {
					begin() // begin has fewer requests
				}
				w.onCall = nil
				mark()
				if err := w.repair().ClearBuilding(deadline(t), def, pass.Behind); !errors.Is(err, repair.ErrBehind) {
					t.Errorf("marked %s, interrupted: %s before request %d: the pass ends with %v", marked, outer, at, err)
				}
				if !head(t, w.store, def).Building {
					t.Errorf("marked %s, interrupted: %s before request %d: not building", marked, outer, at)
				}
			}
		}
	}
}

// If two people begin a pass at the same time, they have two passes. The first can no longer end
// once something is let in. A request of a pass that arrives late does not lower the number.
func TestPassesBegunAtOnce(t *testing.T) {
	for at := 1; at <= 2+lanes.PassShards; at++ {
		w := newWorld(t)
		w.start()
		def, _ := w.plan.Definition("live")
		var first, second tables.Pass
		begin := func(pass *tables.Pass) func() {
			return func() {
				var err error
				if *pass, err = repair.Of(w.sandbox(0)).BeginPass(deadline(t), def); err != nil {
					t.Error(err)
				}
				if _, err := w.sandbox(5).Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{def}); err != nil {
					t.Error(err)
				}
			}
		}
		h := heads{at: at, meanwhile: begin(&second)}
		h.watch(w)
		begin(&first)()
		w.onCall = nil
		for _, pass := range []tables.Pass{first, second} {
			if err := w.repair().ClearBuilding(deadline(t), def, pass.Behind); !errors.Is(err, repair.ErrBehind) {
				t.Errorf("before request %d: a pass from %d ends with %v", at, pass.Behind, err)
			}
		}
		img := w.stored("totals", lanes.PassKey(def, 0))
		if show(img["pass"]) != "N 2" || head(t, w.store, def).Pass != 2 {
			t.Errorf("before request %d: %v, and the head is at %d", at, img, head(t, w.store, def).Pass)
		}
	}
}

// All generations are marked, even if they are more than one request reads. A generation whose head
// is gone is left alone.
func TestManyGenerationsBehind(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		for i := range 90 {
			s.Aggregates[fmt.Sprint("more_", i)] = pipeline.AggregateSpec{Since: 1,
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
		}
	})
	w.start()
	defs := w.plan.Definitions()
	for i := range 40 {
		defs = append(defs, &aggregate.Definition{Name: fmt.Sprint("gone_", i), Since: 1})
	}
	_, err := w.store.Inside().Heads.MarkBehind(deadline(t), defs)
	must.Succeed(t, err)
	for _, def := range w.plan.Definitions() {
		if h := head(t, w.store, def); !h.Building || h.Behind != 1 {
			t.Fatalf("%s: %+v", def, h)
		}
	}
	if img := w.stored("totals", lanes.HeadKey(defs[len(defs)-1])); len(img) != 0 {
		t.Errorf("a head is made anew of one attribute: %v", img)
	}
	_, err = w.repair().BeginPass(deadline(t), defs[len(defs)-1])
	must.Fail(t, err, "has no head")
}
