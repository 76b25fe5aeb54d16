package integration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// toolCall is a command line of the tool on a stack, with the exit code and what it prints.
type toolCall struct {
	line   string
	code   int
	prints string
}

// toolReads are the calls that only read.
var toolReads = []toolCall{
	{"totals merchant_daily --scan --output csv", 0, "merchant"},
	{"query merchants_day merchant_id=m-1 currency=EUR", 0, ""},
	{"verify", 0, "no difference"},
	{"verify --twice", 0, "no difference"},
	{"check --was deployed", 0, ""},
	{"policy --for verify", 0, "dynamodb:Scan"},
	{"get order.placed merchant_id=nobody order_id=o-1", 3, "nothing is stored under ORDER#nobody#o-1 / ORDER"},
	{"quarantine pull letters --once", 0, "visible again"}, // the test has received the message, so it may be hidden
	{"erase order.placed merchant_id=m-101 order_id=o-1 --dry-run", 0, "archive       nothing"},
}

// toolDifferences are the calls that do less than on AWS, each with the reason.
var toolDifferences = []struct {
	toolCall
	reason string
}{
	{toolCall{"status --check", 3, "1 message is in quarantine"},
		"LocalStack has no ages, lag or alarms of functions that it does not run, so status says that these are not known"},
	{toolCall{"rebuild merchant_daily --patience 1ms", 6, "it is not known whether"}, "the test runs the streams function only between " +
		"commands, so a rebuild waits for it in vain"},
}

// tool is the built tool, in a folder with the pipeline.yaml of a stack, which it finds by name at
// the endpoint.
type tool struct {
	binary, dir string
	flags, env  []string
}

func (d *deployed) tool(url, dir string) tool {
	d.Helper()
	w := tool{binary: builtTool(d.T), dir: d.TempDir(), flags: []string{"--stack", d.stack, "--endpoint-url", url},
		env: append(os.Environ(), "INGOT_PII_KEY="+d.secret, "AWS_REGION="+endpoint.Region, "AWS_ACCESS_KEY_ID=test",
			"AWS_SECRET_ACCESS_KEY=test", "AWS_CONFIG_FILE=absent", "AWS_SHARED_CREDENTIALS_FILE=absent")}
	for _, name := range []string{"pipeline.yaml", "template.yaml", "cmd/ingest/main.go", "cmd/streams/main.go"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(w.dir, name), text, 0o600)
		}
		must.Succeed(d, err)
	}
	return w
}

// builtTool returns the tool, which the first test that needs it builds.
func builtTool(t *testing.T) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	binary := filepath.Join(built.dir, "ingot")
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	build := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp", "./cmd/ingot", binary)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go run -exec cp ./cmd/ingot: %v\n%s", err, out)
	}
	return binary
}

// run runs a command line in a process of its own.
func (w tool) run(ctx context.Context, line string) (stdout, stderr string, code int) {
	var out, errors strings.Builder
	cmd := exec.CommandContext(ctx, w.binary, append(strings.Fields(line), w.flags...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &out, &errors
	_ = cmd.Run() // the exit code tells
	return out.String(), errors.String(), cmd.ProcessState.ExitCode()
}

// useTool runs calls on the stack.
func (d *deployed) useTool(w tool, calls []toolCall) {
	d.Helper()
	for _, call := range calls {
		d.Run(strings.ReplaceAll(call.line, " ", "_"), func(t *testing.T) {
			stdout, stderr, code := w.run(t.Context(), call.line)
			if out := stderr + stdout; code != call.code || !strings.Contains(out, call.prints) {
				t.Errorf("ingot %s: exit code %d, want %d\n%s", call.line, code, call.code, out)
			}
			d.used[strings.Fields(call.line)[0]] = true
		})
	}
}

// The differences that TestDeployed checks are those that the page lists.
func TestToolDifferencesAreListed(t *testing.T) {
	page := must.Read(t, "../docs/without.md")
	_, section, _ := strings.Cut(string(page), "\n### The tool on LocalStack\n")
	for _, d := range toolDifferences {
		if row := fmt.Sprintf("| `ingot %s` | %d | %s |\n", d.line, d.code, d.reason); !strings.Contains(section, row) {
			t.Errorf("docs/without.md lacks the row\n%s", row)
		}
	}
	must.Equal(t, strings.Count(section, "\n| `ingot "), len(toolDifferences))
}
