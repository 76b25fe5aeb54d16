package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// outcome is what a run of the tool left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// tool runs the tool in the current directory with an empty environment and an empty stdin.
func tool(t *testing.T, args ...string) outcome {
	t.Helper()
	return toolIn(context.Background(), &app{}, args...)
}

func toolIn(ctx context.Context, a *app, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	if a.env == nil {
		a.env = func(string) (string, bool) { return "", false }
	}
	a.stdin, a.stdout, a.stderr = strings.NewReader(""), &stdout, &stderr
	code := a.run(ctx, args)
	return outcome{code, stdout.String(), stderr.String()}
}

// says checks the exit code and what stderr says.
func (o outcome) says(t *testing.T, code int, parts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", o.code, code, o.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("stderr says nothing of %q: %s", part, o.stderr)
		}
	}
}

func TestUsage(t *testing.T) {
	tool(t, "demmo").says(t, exitUsage, `unknown command "demmo"`, "did you mean demo?")
	tool(t, "something", "else").says(t, exitUsage, `unknown command "something"`, "ingot --help")
	tool(t, "--nonsense").says(t, exitUsage, "unknown flag: --nonsense")
	tool(t, "demo", "--sed", "1").says(t, exitUsage, "--sed", "--seed")
	tool(t, "demo", "--output", "yaml").says(t, exitUsage, `--output "yaml": write text or json`)
	tool(t, "totals", "orders", "--output", "yaml").says(t, exitUsage, `--output "yaml": write text, json or csv`)
	tool(t, "demo", "surplus").says(t, exitUsage, "surplus")
	tool(t, "quarantine", "list", "letters", "--local").says(t, exitUsage,
		"unknown flag: --local; ingot quarantine list reaches no stack: leave it out")
	tool(t, "check", "--pipeline", "../../pipeline.yaml", "--events", ".").says(t, exitUsage,
		".: is a directory; name a file with one event a line with --events FILE, or - for standard input")
	tool(t, "check", "--json").says(t, exitUsage, "unknown flag: --json; did you mean --output json?")
	tool(t, "help", "chekc").says(t, exitUsage, `unknown command "chekc"; did you mean check?`)
	tool(t, "completion", "tcsh").says(t, exitUsage, `unknown command "tcsh"; see ingot completion --help`)
	for _, args := range [][]string{{}, {"--help"}, {"completion"}, {"completion", "--help"}, {"help", "completion", "bash"},
		{"demo", "--help"}, {"help", "demo"}} {
		o := tool(t, args...)
		o.says(t, exitFine)
		if !strings.Contains(o.stdout, "Usage:") || o.stderr != "" {
			t.Errorf("ingot %s prints %q and says %q", strings.Join(args, " "), o.stdout, o.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	o := tool(t, "--version")
	if o.says(t, exitFine); !strings.HasPrefix(o.stdout, "ingot version ") || o.stderr != "" {
		t.Errorf("it prints %q and says %q", o.stdout, o.stderr)
	}
	o = tool(t, "version")
	if o.says(t, exitFine); !regexp.MustCompile(`^ingot \S+, go\S+( \S+)*, \w+/\w+.*\n$`).MatchString(o.stdout) || o.stderr != "" {
		t.Errorf("it prints %q and says %q", o.stdout, o.stderr)
	}
	var b build
	o = tool(t, "version", "--output", "json")
	if err := json.Unmarshal([]byte(o.stdout), &b); err != nil || b.Version == "" || b.Go != runtime.Version() || b.OS != runtime.GOOS ||
		b.Arch != runtime.GOARCH {
		t.Errorf("%v: %s", err, o.stdout)
	}
	tool(t, "version", "1").says(t, exitUsage, `ingot version takes no argument "1"`)
}

func TestBuild(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-03-01T09:00:00Z"},
		{Key: "vcs.modified", Value: "true"}}
	b := readBuild(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}, Settings: settings}, true)
	b.OS, b.Arch = "plan9", "mips"
	if want := "ingot v1.2.3, go1.26.0, plan9/mips, commit 0123456789ab of 2026-03-01T09:00:00Z, with changes that are not committed"; b.String() != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	if b := readBuild(nil, false); b.Version != "unknown" || b.Go == "" {
		t.Errorf("%+v", b)
	}
}

// Help names the exit codes that commands return, and no others.
func TestHelpNamesTheExitCodes(t *testing.T) {
	text := tool(t, "--help").stdout
	_, text, _ = strings.Cut(text, "Exit codes: ")
	text, _, _ = strings.Cut(text, ".")
	want := []string{fmt.Sprint(exitFine), fmt.Sprint(exitFailed), fmt.Sprint(exitUsage), fmt.Sprint(exitDifference),
		fmt.Sprint(exitCredentials), fmt.Sprint(exitRefused), fmt.Sprint(exitUntold), fmt.Sprint(exitInterrupted)}
	if got := regexp.MustCompile(`\d+`).FindAllString(text, -1); !slices.Equal(got, want) {
		t.Errorf("help names %v, want %v", got, want)
	}
}

// A command that asks a stack can fail, and its help says with which code.
func TestHelpNamesTheCodeOfAFailure(t *testing.T) {
	for _, cmd := range all(newRoot(&app{})) {
		if cmd.Flags().Lookup("endpoint-url") == nil || slices.Contains([]string{"check", "policy"}, cmd.Name()) {
			continue // these read the deployed file, if asked to
		}
		_, codes, said := strings.Cut(cmd.Long, "Exit codes: ")
		codes, _, _ = strings.Cut(codes, "\n\n")
		if said && !strings.Contains(" "+codes, fmt.Sprintf(" %d ", exitFailed)) {
			t.Errorf("%s --help does not name code %d: %s", cmd.CommandPath(), exitFailed, codes)
		}
	}
}

func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{context.Background(), nil, exitFine},
		{context.Background(), errors.New("x"), exitFailed},
		{context.Background(), usage(errors.New("x")), exitUsage},
		{context.Background(), fmt.Errorf("wrapped: %w", usage(errors.New("x"))), exitUsage},
		{context.Background(), difference(), exitDifference},
		{cancelled, errors.New("x"), exitInterrupted},
		{cancelled, usage(errors.New("x")), exitInterrupted},
		{cancelled, nil, exitFine},
	} {
		if got := exitCode(test.ctx, test.err); got != test.want {
			t.Errorf("%v gives %d, want %d", test.err, got, test.want)
		}
	}
}
