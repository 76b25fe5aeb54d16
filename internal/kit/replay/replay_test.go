package replay

import (
	"slices"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestSeeds(t *testing.T) {
	t.Setenv("INGOT_SEED", "")
	must.Match(t, Seeds(t, 7, 3), []uint64{7, 8, 9})
	if a, b := Seeds(t, 0, 1)[0], Seed(t, 0); a == b || a == 0 {
		t.Errorf("the time gave %d and %d", a, b)
	}
	t.Setenv("INGOT_SEED", "42")
	if got := Seeds(t, 7, 3); !slices.Equal(got, []uint64{42}) || Seed(t, 0) != 42 {
		t.Errorf("%v", got)
	}
}

func TestCommand(t *testing.T) {
	t.Run("below", func(t *testing.T) {
		if got, want := Command(t, 42), "INGOT_SEED=42 go test -run '^TestCommand$' ./internal/kit/replay"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// fatal is a test that notes that it was ended.
type fatal struct {
	testing.TB
	ended bool
}

func (f *fatal) Helper()               {}
func (f *fatal) Fatalf(string, ...any) { f.ended = true; panic(f) }

// A seed that cannot be read ends the test. Another seed in its place would replay nothing.
func TestBadSeed(t *testing.T) {
	t.Setenv("INGOT_SEED", "42x")
	f := &fatal{TB: t}
	defer func() {
		if recover(); !f.ended {
			t.Error("the test goes on")
		}
	}()
	Seeds(f, 7, 3)
}
