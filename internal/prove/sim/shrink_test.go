package sim

import (
	"encoding/json"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim/shrink"
)

// TestShrink shows that a world that fails for one reason is shrunk to that reason.
func TestShrink(t *testing.T) {
	runs := 0
	live := func(p Plan) Result {
		runs++
		r := Result{Plan: p}
		if p.Phases >= 2 && p.Messages >= 3 && p.Faults.Lose > 0 && p.Spread > 1 {
			r.Failure = &Failure{Check: Wrong}
		} else if p.Faults.Crash > 0 {
			r.Failure = &Failure{Check: Lost} // another promise, so this is not a smaller form of the failure
		}
		return r
	}
	p := NewPlan(3)
	p.Spread, p.Upgrade, p.Faults.Lose, p.Faults.Crash, p.Duplicates = 3, 3, 0.05, 0.01, 0.2
	small := Shrink(p, Wrong, 1000, live)
	if r := live(small); r.Failure == nil || r.Failure.Check != Wrong {
		t.Fatalf("the shrunk plan does not fail: %+v", small)
	}
	want := Plan{Seed: small.Seed, Counting: p.Counting, Spread: 3, Phases: 2, Messages: 3, Gap: p.Gap, Ingests: 1, Receives: 1000,
		IngestBatch: 1, StreamBatch: 1,
		Window: p.Window, Parcels: p.Parcels, Faults: Faults{Lose: 0.05}}
	if small != want {
		t.Errorf("shrunk to\n%+v, not to\n%+v", small, want)
	}
	if runs > 1000 {
		t.Errorf("it took %d worlds", runs)
	}
}

// TestShrinkWorlds shrinks real worlds. What is left is small, and its overlay replays it byte for
// byte.
func TestShrinkWorlds(t *testing.T) {
	live := func(p Plan) Result {
		r := Live(p, false)
		if r.Failure == nil && r.Stats.Faults[stage.Lost] > 0 {
			r.Failure = &Failure{Check: Cost, Detail: "an artificial failure: some answer was lost"}
		}
		return r
	}
	p := NewPlan(1)
	p.Faults.Lose = 0.05
	small := Shrink(p, Cost, 60, live)
	if r := live(small); r.Failure == nil || small.Phases*small.Messages > 20 {
		t.Fatalf("shrunk to %+v, which gives %v", small, r.Failure)
	}
	again := p
	if err := json.Unmarshal([]byte(shrink.Overlay(p, small)), &again); err != nil || again != small {
		t.Fatalf("%s does not lead from\n%+v to\n%+v: %v", shrink.Overlay(p, small), p, small, err)
	}
	if Live(again, true).Trace != Live(small, true).Trace {
		t.Error("the replayed world is another one")
	}
}

// TestShrinkGivesUp shows that a plan that no longer fails is left unchanged.
func TestShrinkGivesUp(t *testing.T) {
	p := NewPlan(9)
	if got := Shrink(p, Lost, 50, func(p Plan) Result { return Result{Plan: p} }); got != p {
		t.Errorf("shrunk to %+v", got)
	}
}
