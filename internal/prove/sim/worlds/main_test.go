package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim"
)

func worlds(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, sim.Live, &o, &e)
	return code, o.String(), e.String()
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		out  []string
	}{
		"a few": {[]string{"-n", "4", "-from", "7"}, 0,
			[]string{"lost answer", "Inserted", "median world", "4 worlds, seeds 7 to 10, 0 wrong;", "worlds a minute"}},
		"as JSON":    {[]string{"-n", "2", "-json"}, 0, []string{"{}\n"}},
		"fault-free": {[]string{"-n", "3", "-fault-free"}, 0, []string{"3 worlds, seeds 0 to 2, 0 wrong"}},
		"one":        {[]string{"-seed", "5"}, 0, []string{"seed 5: every promise kept in "}},
		"one, told":  {[]string{"-seed", "5", "-trace"}, 0, []string{"producer     sends ", "is inserted: record"}},
		"one, made smaller": {[]string{"-seed", "5", "-plan",
			`{"Phases":1,"Messages":2,"Upgrade":0,"Duplicates":0,"Conflicts":0,"Copies":0,"Weekend":0}`}, 0,
			[]string{"steps, 14 messages"}}, // 2, and 12 while somebody verifies
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, talk := worlds(t, test.args...)
			if code != test.code {
				t.Errorf("exit %d, want %d: %s%s", code, test.code, out, talk)
			}
			for _, want := range test.out {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
		})
	}
}

func TestFreshPrintsItsSeed(t *testing.T) {
	code, out, _ := worlds(t, "-n", "1", "-fresh")
	if code != 0 || !strings.HasPrefix(out, "from seed ") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"more"}, {"-trace"}, {"-plan", "{}"}, {"-what"}, {"-h"},
		{"-seed", "1", "-plan", `{"Mesages":1}`}} {
		code, out, talk := worlds(t, args...)
		if code != 2 || out != "" || talk == "" {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, talk)
		}
	}
}

// TestReport checks the JSON that the runner of the mutants reads.
func TestReport(t *testing.T) {
	failed := &sim.Result{Plan: sim.Plan{Seed: 12}, Failure: &sim.Failure{Check: sim.Lost, Detail: `"it" is gone`}}
	var out bytes.Buffer
	if code := report(&out, failed); code != 1 {
		t.Errorf("exit %d", code)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["seed"] != 12.0 || got["check"] != "lost" ||
		got["detail"] != `"it" is gone` {
		t.Errorf("%s: %v %v", out.String(), got, err)
	}
	if code := report(io.Discard, nil); code != 0 {
		t.Errorf("exit %d without a failure", code)
	}
}

// TestInterrupted shows that stopping early is not a success.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out bytes.Buffer
	if code := run(ctx, []string{"-n", "5"}, sim.Live, &out, io.Discard); code != 1 || !strings.Contains(out.String(), "stopped early") {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
