package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// older is a world with orders of the first epoch, under a pipeline of the second.
func older(t *testing.T, orders int) (*world, *leaf, verify.Config, *store.Store) {
	t.Helper()
	w := newWorld(t)
	for i := range orders {
		w.put(i, "a", i)
	}
	w.drain()
	w.deploy(withAgain())
	s, l := w.leafed()
	return w, l, verify.Config{Pipeline: w.plan, Config: sums.Config{Env: w.Env, About: "these tables"}}, s
}

func mustTouch(t *testing.T, c verify.Config, s *store.Store) verify.TouchPass {
	t.Helper()
	got, err := verify.Touch(context.Background(), c, s)
	must.Succeed(t, err)
	return got
}

// Segments side by side touch each item once, and what they say is what was done.
func TestTouchInSegments(t *testing.T) {
	for _, segments := range []int{0, 1, 2, 7} {
		w, _, c, _ := older(t, 40)
		w.put(100, "b", 1) // of this epoch
		c.Segments = segments
		got := mustTouch(t, c, w.store)
		if got.Scanned != 41 || got.Touched.Touched != 40 || got.Writes != 40 || got.Reads < 1 {
			t.Fatalf("%d segments: %+v", segments, got)
		}
		for item, err := range w.store.Items(context.Background()) {
			must.Succeed(t, err)
			must.Equal(t, item.Epoch, 2, segments, item.Key)
		}
		again := mustTouch(t, c, w.store)
		must.Equal(t, again.Touched.Touched, 0, segments)
		must.Equal(t, again.Writes, 0, segments)
	}
}

// A pass that breaks off at any page goes on there. It reads no page again, and the next pass reads
// all of them.
func TestTouchGoesOn(t *testing.T) {
	_, l, c, s := older(t, 20)
	mustTouch(t, c, s)
	all := l.pages
	for at := 1; at <= all; at++ {
		w, l, c, s := older(t, 20)
		dir := t.TempDir()
		c.Work, l.failAt = sums.Dir(dir), at
		if _, err := verify.Touch(context.Background(), c, s); !errors.Is(err, errBroken) {
			t.Fatalf("page %d: %v", at, err)
		}
		got := mustTouch(t, c, s)
		if got.Scanned != 20 || got.Touched.Touched != 20 || got.Writes != 20 || l.pages != all+1 {
			t.Errorf("broken at page %d of %d: %d pages, %+v", at, all, l.pages, got)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the folder: %v %v", left, err)
		}
		def := w.definition("again")
		pass := w.begin(def)
		w.drain()
		r := mustRun(t, verify.Config{Pipeline: w.plan, Source: verify.SourceOf(s), Config: sums.Config{Env: w.Env}})
		if standing, err := r.Finish(context.Background(), w.plan, s, pass, w.Clock.Now()); err != nil || len(standing) > 0 {
			t.Errorf("broken at page %d: %v %v", at, standing, err)
		}
		l.pages, l.failAt = 0, 0
		mustTouch(t, c, s)
		must.Equal(t, l.pages, all, "the next pass")
	}
}

// Ctrl-C leaves a checkpoint. A folder of another pass is refused, and so is a damaged one.
func TestTouchFolder(t *testing.T) {
	_, l, c, s := older(t, 20)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.Work, l.before = sums.Dir(dir), func(page int) {
		if page == 4 {
			cancel()
		}
	}
	if _, err := verify.Touch(ctx, c, s); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	others := c
	others.About = "other tables"
	_, err := verify.Touch(context.Background(), others, s)
	must.Fail(t, err, "holds a touch pass of another epoch, or of other tables or --segments; use an empty folder")
	names, err := filepath.Glob(filepath.Join(dir, "touch-0000-of-0001.manifest"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	text := must.Read(t, names[0])
	must.Write(t, names[0], string(append(text, '!')))
	_, err = verify.Touch(context.Background(), c, s)
	must.Fail(t, err, "its checksum is wrong; begin again in an empty folder")
}

// The rate is kept on average, for reads and writes together.
func TestTouchRate(t *testing.T) {
	w, _, c, s := older(t, 30)
	c.Env = w.Clock.Env(func() float64 { return 0.5 })
	c.Rate = 4
	began := w.Clock.Now()
	got := mustTouch(t, c, s)
	took, want := w.Clock.Now().Sub(began), time.Duration((got.Reads+got.Writes)/4*float64(time.Second))
	if took != want || want < 10*time.Second {
		t.Errorf("%+v took %v, not %v", got, took, want)
	}
}
