package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/prove/sim"
)

// lostIsFailure lives a real world, and treats one harmless thing that happens in it as a failure.
// The design breaks no promise that could be shown here instead.
func lostIsFailure(p sim.Plan, trace bool) sim.Result {
	r := sim.Live(p, trace)
	if n := r.Stats.Faults["lost answer"]; r.Failure == nil && n > 0 {
		r.Failure = &sim.Failure{Check: sim.Cost, Detail: fmt.Sprintf("%d answers were lost", n), Step: r.Stats.Steps}
		r.Trace += "FAILED " + r.Failure.Detail + "\n"
	}
	return r
}

func failing(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	if code := run(context.Background(), args, lostIsFailure, &out, &talk); code != 1 {
		t.Fatalf("%q: exit %d, want 1: %s%s", args, code, out.String(), talk.String())
	}
	return out.String()
}

// found returns what the one group of a pattern matches in the output of a failing run.
func found(t *testing.T, pattern, out string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("nothing matches %s in:\n%s", pattern, out)
	}
	return m[1]
}

// arguments splits a printed command as a shell does. Text in quotes must not contain quotes.
func arguments(t *testing.T, command string) (args []string) {
	t.Helper()
	rest, ours := strings.CutPrefix(command, "go run ./internal/prove/sim/worlds ")
	if !ours || strings.Count(rest, "'")%2 != 0 {
		t.Fatalf("no command that can be pasted: %s", command)
	}
	for i, part := range strings.Split(rest, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args
}

// TestFailureIsReplayed shows that a failing run prints its seed, a smaller world that fails in the
// same way, and commands that replay either of them. Each command must give exactly the failure
// that the run printed.
func TestFailureIsReplayed(t *testing.T) {
	for name, kind := range map[string][]string{"as many": {"-n", "40", "-from", "3"}, "by time": {"-fresh", "-minutes", "10"}} {
		t.Run(name, func(t *testing.T) {
			if name == "by time" {
				slow.Test(t, "a second failing run, which is made smaller too")
			}
			out := failing(t, append(kind, "-workers", "2")...)
			seed := found(t, `(?m)^seed (\d+): cost at step`, out)
			whole := found(t, `(?m)^seed \d+: (cost at step \d+: \d+ answers were lost)$`, out)
			shrunk := found(t, `(?m)^shrunk to \d+ phases of \d+ messages: (cost at step \d+: \d+ answers were lost)$`, out)
			if shrunk == whole {
				t.Errorf("it was not made smaller: %s", whole)
			}
			for line, want := range map[string]string{"replay": shrunk, "whole": whole} {
				args := arguments(t, found(t, `(?m)^`+line+`: +(.*)$`, out))
				if !strings.Contains(strings.Join(args, " ")+" ", "-seed "+seed+" ") {
					t.Errorf("%s is not of seed %s: %q", line, seed, args)
				}
				again := failing(t, args...)
				if !strings.HasSuffix(again, "\nseed "+seed+": "+want+"\n") {
					t.Errorf("%s gives another failure than %q:\n%s", line, want, again[max(0, len(again)-300):])
				}
			}
			if told := failing(t, arguments(t, found(t, `(?m)^replay: (.*)$`, out))...); !strings.Contains(told, lastLine(out)) {
				t.Errorf("what the run tells last is not in the replay: %s", lastLine(out))
			}
		})
	}
}

// lastLine returns the last line of the world that a failing run prints.
func lastLine(out string) string {
	told, _, _ := strings.Cut(out, "\n\nreplay:")
	return told[strings.LastIndex(told, "\n")+1:]
}

// TestFaultFreeFailureIsReplayed shows that a world without trouble is replayed as one.
func TestFaultFreeFailureIsReplayed(t *testing.T) {
	fails := func(p sim.Plan, trace bool) sim.Result {
		r := sim.Live(p, trace)
		r.Failure = &sim.Failure{Check: sim.Lost, Detail: fmt.Sprintf("still: %v, %d messages", p.Still, r.Stats.Sent)}
		return r
	}
	var out bytes.Buffer
	if code := run(context.Background(), []string{"-fault-free", "-n", "1", "-from", "8"}, fails, &out, &out); code != 1 {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	want := found(t, `(?m)^shrunk to .*?: (lost at step 0: still: true, \d+ messages)$`, out.String())
	args := arguments(t, found(t, `(?m)^replay: (.*)$`, out.String()))
	var again bytes.Buffer
	if code := run(context.Background(), args, fails, &again, &again); code != 1 ||
		!strings.HasSuffix(again.String(), "\nseed 8: "+want+"\n") {
		t.Errorf("%q: exit %d, want %q: %s", args, code, want, again.String())
	}
}

// TestLowestSeedIsTold shows that the lowest seed is reported, even if the later seed of two
// workers fails first.
func TestLowestSeedIsTold(t *testing.T) {
	later := make(chan struct{})
	life := func(p sim.Plan, _ bool) sim.Result {
		r := sim.Result{Plan: p, Failure: &sim.Failure{Check: sim.Lost, Detail: fmt.Sprintf("in world %d", p.Seed)}}
		switch p.Seed {
		case 100:
			<-later
		case 101:
			close(later)
		}
		return r
	}
	o := options{worlds: 2, from: 100, workers: 2, life: life}
	if failed := live(context.Background(), o, sim.NewSurvey()); failed == nil || failed.Plan.Seed != 100 {
		t.Errorf("%+v", failed)
	}
}
