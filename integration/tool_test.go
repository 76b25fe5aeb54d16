package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/integration/endpoint"
)

// toolCalls are command lines of the tool on a stack, with the exit code and what they print.
var toolCalls = []struct {
	line   string
	code   int
	prints string
}{
	{"totals merchant_daily --scan --output csv", 0, "merchant"},
	{"query merchants_day merchant_id=m-1 currency=EUR", 0, ""},
	{"verify", 0, "no difference"},
	{"check --was deployed", 0, ""},
	{"policy --for verify", 0, "dynamodb:Scan"},
	{"get order.placed merchant_id=nobody order_id=o-1", 3, "nothing is stored under ORDER#nobody#o-1 / ORDER"},
	{"quarantine pull letters --once", 0, "messages visible again"}, // the test has received the message, so it is hidden
	// These are the differences from a stack on AWS. CloudFormation here makes no functions, because this
	// process stands in for Lambda. So there are no mappings to switch or to show.
	{"pause", 1, "lacks the outputs IngestFunctionName, StreamsFunctionName"},
	{"status --check", 3, "the names of the functions are not known"},
}

// tool is the built tool, in a folder with the pipeline.yaml of a stack, which it finds by name at the endpoint.
type tool struct {
	binary, dir string
	flags, env  []string
}

func (d *deployed) tool(url, dir string) tool {
	d.Helper()
	w := tool{binary: filepath.Join(built.dir, "ingot"), dir: d.TempDir(), flags: []string{"--stack", d.stack, "--endpoint-url", url},
		env: append(os.Environ(), "INGOT_PII_KEY="+d.secret, "AWS_REGION="+endpoint.Region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_CONFIG_FILE=absent", "AWS_SHARED_CREDENTIALS_FILE=absent")}
	build := exec.CommandContext(d.Context(), "go", "build", "-o", w.binary, "./cmd/ingot")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		d.Fatalf("go build ./cmd/ingot: %v\n%s", err, out)
	}
	for _, name := range []string{"pipeline.yaml", "template.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(w.dir, name), text, 0o600)
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	return w
}

// run runs a command line in a process of its own.
func (w tool) run(ctx context.Context, line string) (stdout, stderr string, code int) {
	var out, errors strings.Builder
	cmd := exec.CommandContext(ctx, w.binary, append(strings.Fields(line), w.flags...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &out, &errors
	_ = cmd.Run() // the exit code tells
	return out.String(), errors.String(), cmd.ProcessState.ExitCode()
}

// useTool runs the tool on the stack.
func (d *deployed) useTool(w tool) {
	d.Helper()
	for _, call := range toolCalls {
		d.Run(strings.ReplaceAll(call.line, " ", "_"), func(t *testing.T) {
			stdout, stderr, code := w.run(t.Context(), call.line)
			if out := stderr + stdout; code != call.code || !strings.Contains(out, call.prints) {
				t.Errorf("ingot %s: exit code %d, want %d\n%s", call.line, code, call.code, out)
			}
		})
	}
}
