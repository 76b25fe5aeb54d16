package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/mutants/hunt/found"
)

// TestHunt shows what counts as a kill: a broken promise that is looked for, or any broken promise
// if none is named. The hunt notes the others.
func TestHunt(t *testing.T) {
	breaks := map[uint64]sim.Check{12: sim.Cost, 13: sim.Cost, 15: sim.Lost, 17: sim.Twice}
	live := func(seed uint64) *sim.Failure {
		if check := breaks[seed]; check != "" {
			return &sim.Failure{Check: check, Detail: "of a world"}
		}
		return nil
	}
	for name, c := range map[string]struct {
		from   uint64
		n      int
		checks []string
		want   found.Found
	}{
		"any": {10, 10, nil, found.Found{Worlds: 3, Check: "cost", Seed: 12, Detail: "cost at step 0: of a world"}},
		"the first of two": {10, 10, []string{"twice", "lost"},
			found.Found{Worlds: 6, Check: "lost", Seed: 15, Detail: "lost at step 0: of a world", Others: map[string]int{"cost": 2}}},
		"others alone": {10, 7, []string{"twice"}, found.Found{Worlds: 7, Others: map[string]int{"cost": 2, "lost": 1}}},
		"in the last world": {10, 8, []string{"twice"},
			found.Found{Worlds: 8, Check: "twice", Seed: 17, Detail: "twice at step 0: of a world",
				Others: map[string]int{"cost": 2, "lost": 1}}},
		"nothing goes wrong": {20, 4, nil, found.Found{Worlds: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			seeds, err := seedsOf("", c.from, c.n)
			if err != nil {
				t.Fatal(err)
			}
			got := hunt(live, seeds, c.checks)
			if got.Worlds != c.want.Worlds || got.Check != c.want.Check || got.Seed != c.want.Seed || got.Detail != c.want.Detail ||
				!maps.Equal(got.Others, c.want.Others) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSeeds shows that named seeds come first and that no seed comes twice.
func TestSeeds(t *testing.T) {
	for _, c := range []struct {
		first string
		n     int
		want  []uint64
	}{{"", 3, []uint64{5, 6, 7}}, {"6,90", 3, []uint64{6, 90, 5, 7}}, {"8", 0, []uint64{8}}} {
		if got, err := seedsOf(c.first, 5, c.n); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("first %q, then %d: %v, %v; want %v", c.first, c.n, got, err, c.want)
		}
	}
	if _, err := seedsOf("1,x", 0, 1); err == nil {
		t.Error("a seed that is not a number")
	}
}
