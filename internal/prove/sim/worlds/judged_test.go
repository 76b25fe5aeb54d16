package main

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/survey"
)

// TestFewWorldsAreNotJudged shows that a survey judges nothing below this number of worlds, and
// does judge from it on.
func TestFewWorldsAreNotJudged(t *testing.T) {
	seen := sim.NewSurvey()
	for range survey.Few - 1 {
		seen.Add(sim.Result{}.Stats)
	}
	if short := seen.Shortfalls(); len(short) > 0 {
		t.Errorf("%d worlds are judged: %q", seen.Worlds, short)
	}
	seen.Add(sim.Result{}.Stats)
	if len(seen.Shortfalls()) == 0 {
		t.Errorf("%d worlds in which nothing happened are not too little", seen.Worlds)
	}
}

// TestTimeIsNoExcuse shows what happens when the time is over before there are enough worlds to
// judge. The command goes on until there are enough, and judges them.
func TestTimeIsNoExcuse(t *testing.T) {
	var lived atomic.Int64
	kind := func(p sim.Plan, _ bool) sim.Result {
		lived.Add(1)
		return sim.Result{Plan: p}
	}
	var out bytes.Buffer
	code := run(context.Background(), []string{"-fresh", "-minutes", "0.0000001"}, kind, &out, &out)
	if code != 1 || lived.Load() != survey.Few || !strings.Contains(out.String(), "too little: the fault") {
		t.Errorf("exit %d after %d worlds: %s", code, lived.Load(), out.String())
	}
	lived.Store(0)
	if code := run(context.Background(), []string{"-fresh", "-minutes", "0.0000001", "-fault-free"}, kind, &out, &out); code != 0 ||
		lived.Load() >= survey.Few {
		t.Errorf("exit %d after %d quiet worlds, which nothing judges", code, lived.Load())
	}
}
