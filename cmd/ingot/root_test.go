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
	"time"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// These are the exit codes, by shorter names.
const (
	exitFine, exitFailed, exitUsage = cli.Fine, cli.Failed, cli.Wrong
	exitDifference, exitCredentials = cli.Different, cli.Credentials
	exitRefused, exitUnsure         = cli.Refuses, cli.Unknown
	exitInterrupted                 = cli.Interrupted
)

// ran is what one run of the tool left behind, or one answer of its console.
type ran struct {
	line        string
	code        int
	out, errors string
}

// tool runs a command line in the current directory with an empty environment and an empty stdin.
func tool(t *testing.T, line string, more ...string) ran {
	t.Helper()
	return toolIn(t.Context(), bare(), line, more...)
}

// bare returns a tool that reads nothing of this process.
func bare() *command.App { return appOf(cli.IO{}) }

// toolIn runs a command line with what the test gives it. The line is split at its blanks. Words
// that hold blanks, or are empty, come after it. Nothing else is in the environment of the tool,
// its stdin is empty, and what it waits for a stack is over at once.
func toolIn(ctx context.Context, a *command.App, line string, more ...string) ran {
	args := append(strings.Fields(line), more...)
	var stdout, stderr bytes.Buffer
	if a.Env == nil {
		a.Env = func(string) (string, bool) { return "", false }
	}
	if a.Stdin == nil {
		a.Stdin = strings.NewReader("")
	}
	if a.Clock.Now == nil {
		a.Clock = quickClock()
	}
	a.Stdout, a.Stderr = &stdout, &stderr
	identify(args)
	defer atWork.Store("") // what the test sends next is its own
	return ran{strings.Join(args, " "), execute(ctx, a, args), stdout.String(), stderr.String()}
}

// says checks the exit code and what stderr says.
func (o ran) says(t *testing.T, code int, parts ...string) ran {
	t.Helper()
	must.Equal(t, o.code, code, o.line, o.errors, o.out)
	return o.holds(t, o.errors, parts)
}

// prints checks what stdout says.
func (o ran) prints(t *testing.T, parts ...string) ran {
	t.Helper()
	return o.holds(t, o.out, parts)
}

func (o ran) holds(t *testing.T, text string, parts []string) ran {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("ingot %s lacks %q:\n%s", o.line, part, text)
		}
	}
	return o
}

// reads decodes the JSON on stdout.
func (o ran) reads(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.out), into); err != nil {
		t.Fatalf("ingot %s: %v\n%s%s", o.line, err, o.out, o.errors)
	}
}

// lacks checks what neither of them says.
func (o ran) lacks(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(o.out+o.errors, part) {
			t.Errorf("ingot %s says %q:\n%s%s", o.line, part, o.out, o.errors)
		}
	}
}

// setenv sets variables of the environment until the test ends.
func setenv(t *testing.T, variables map[string]string) {
	t.Helper()
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// until waits for something that happens in real time.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func TestUsage(t *testing.T) {
	tool(t, "demmo").says(t, exitUsage, `unknown command "demmo"`, "did you mean demo?")
	tool(t, "something else").says(t, exitUsage, `unknown command "something"`, "ingot --help")
	tool(t, "--nonsense").says(t, exitUsage, "unknown flag: --nonsense")
	tool(t, "demo --sed 1").says(t, exitUsage, "--sed", "--seed")
	tool(t, "demo --output yaml").says(t, exitUsage, `--output "yaml": write text or json`)
	tool(t, "totals orders --output yaml").says(t, exitUsage, `--output "yaml": write text, json or csv`)
	tool(t, "demo surplus").says(t, exitUsage, "surplus")
	tool(t, "check --pipeline ../../pipeline.yaml --events .").says(t, exitUsage,
		".: is a directory; name a file with one event a line with --events FILE, or - for standard input")
	tool(t, "check --json").says(t, exitUsage, "unknown flag: --json; did you mean --output json?")
	tool(t, "help chekc").says(t, exitUsage, `unknown command "chekc"; did you mean check?`)
	tool(t, "completion tcsh").says(t, exitUsage, `unknown command "tcsh"; did you mean bash or fish or zsh?`)
	tool(t, "migrate retir").says(t, exitUsage, `unknown command "retir"; did you mean retire?`)
	for _, line := range []string{"", "--help", "completion", "completion --help", "help completion bash", "demo --help", "help demo"} {
		o := tool(t, line).says(t, exitFine)
		o.prints(t, "Usage:")
		must.Equal(t, o.errors, "")
	}
}

func TestVersion(t *testing.T) {
	tool(t, "version").says(t, exitUsage, `unknown command "version"`) // the flag is enough
	o := tool(t, "--version")
	if o.says(t, exitFine); !regexp.MustCompile(`^ingot version \S+, go\S+( \S+)*, \w+/\w+.*\n$`).MatchString(o.out) || o.errors != "" {
		t.Errorf("it prints %q and says %q", o.out, o.errors)
	}
}

func TestBuild(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-03-01T09:00:00Z"},
		{Key: "vcs.modified", Value: "true"}}
	for want, got := range map[string]string{
		"v1.2.3, go1.26.0, HERE, commit 0123456789ab of 2026-03-01T09:00:00Z, with changes that are not committed": version(
			&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}, Settings: settings}, true),
		"unknown, " + runtime.Version() + ", HERE": version(nil, false),
	} {
		if want = strings.Replace(want, "HERE", runtime.GOOS+"/"+runtime.GOARCH, 1); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Help names the exit codes that commands return, and no others.
func TestHelpNamesTheExitCodes(t *testing.T) {
	text := tool(t, "help exit-codes").out
	want := []string{fmt.Sprint(exitFine), fmt.Sprint(exitFailed), fmt.Sprint(exitUsage), fmt.Sprint(exitDifference),
		fmt.Sprint(exitCredentials), fmt.Sprint(exitRefused), fmt.Sprint(exitUnsure), fmt.Sprint(exitInterrupted)}
	if got := strings.Fields(strings.Join(regexp.MustCompile(`(?m)^  \d+ `).FindAllString(text, -1), "")); !slices.Equal(got, want) {
		t.Errorf("help names %v, want %v", got, want)
	}
}

// Where the help of a command explains codes, these exist, and are not those of each command.
func TestHelpExplainsCodes(t *testing.T) {
	found := 0
	for _, cmd := range all(newRoot(bare())) {
		_, codes, said := strings.Cut(cmd.Long, "Exit code ")
		if !said {
			continue
		}
		found++
		codes, _, _ = strings.Cut(codes, "\n\n")
		for _, code := range regexp.MustCompile(`(?:^|[.] )(\d+)`).FindAllStringSubmatch(codes, -1) {
			if !slices.Contains([]string{"1", "2", "3", "5", "6"}, code[1]) {
				t.Errorf("%s --help explains code %s", cmd.CommandPath(), code[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d commands explain a code", found)
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
		{context.Background(), cli.Usage(errors.New("x")), exitUsage},
		{context.Background(), fmt.Errorf("wrapped: %w", cli.Usage(errors.New("x"))), exitUsage},
		{context.Background(), cli.Difference(), exitDifference},
		{cancelled, errors.New("x"), exitInterrupted},
		{cancelled, cli.Usage(errors.New("x")), exitInterrupted},
		{cancelled, nil, exitFine},
	} {
		if got := exitCode(test.ctx, test.err); got != test.want {
			t.Errorf("%v gives %d, want %d", test.err, got, test.want)
		}
	}
}
