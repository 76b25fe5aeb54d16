package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestInitDeployed shows that the repository that ingot init makes can be built by its own make
// build. Its functions store and count its own sample events, as processes and, where that is
// possible, in a whole deployment.
func TestInitDeployed(t *testing.T) {
	cli := findSAM(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Fatal("make is not on PATH; install it")
	}
	e, clients := open(t)
	dir := filepath.Join(t.TempDir(), "shop")
	inFolder(t, "..", nil, "go", "run", "./cmd/ingot", "init", dir)
	config := filepath.Join(dir, "samconfig.toml")
	was, now := `"LogRetentionDays=7"`, `"LogRetentionDays=7 Counting=receipts Architecture=`+cli.architecture+`"`
	text, err := os.ReadFile(config)
	if err != nil || !bytes.Contains(text, []byte(was)) {
		t.Fatalf("%s does not have %s (%v)", config, was, err)
	}
	must.Write(t, config, string(bytes.Replace(text, []byte(was), []byte(now), 1)))
	path := filepath.Dir(cli.path) + string(os.PathListSeparator) + os.Getenv("PATH")
	inFolder(t, dir, []string{"PATH=" + path, "GOFLAGS=", "GOWORK=off"}, "make", "build")

	binaries := map[string]string{}
	for _, function := range []string{"IngestFunction", "StreamsFunction"} {
		binaries[function] = filepath.Join(dir, ".aws-sam", "build", function, "bootstrap")
	}
	// Here the EndpointUrl of the template is empty. The endpoint comes in the way in which
	// LocalStack's Lambda provides it.
	d := deploy(t, deployment{dir: dir, binaries: binaries, parameters: map[string]string{"Counting": "receipts"},
		lambda: map[string]string{"AWS_ENDPOINT_URL": e.URL}})
	events := must.Read(t, filepath.Join(dir, "events", "sample.ndjson"))
	bodies := strings.Split(strings.TrimSpace(string(events)), "\n")
	d.check(bodies)

	// The same repository, deployed by sam, where the image can run functions.
	t.Run("whole", func(t *testing.T) {
		needsLambda(t, e)
		own := samCLI{path: cli.path, root: dir, architecture: cli.architecture,
			overrides: []string{"Architecture=" + cli.architecture, "Counting=receipts"}}
		own.deploy(t, e, clients, filepath.Join(dir, ".aws-sam", "build", "template.yaml")).check(bodies)
	})
}

// TestInitNoGo shows that what ingot init --no-go makes stores and counts its own sample events.
// The functions have the sample shop built in, but use the pipeline.yaml that is the layer.
func TestInitNoGo(t *testing.T) {
	e, _ := open(t)
	dir := filepath.Join(t.TempDir(), "shop")
	inFolder(t, "..", nil, "go", "run", "./cmd/ingot", "init", dir, "--no-go")
	d := deploy(t,
		deployment{dir: dir, binaries: functions(t), parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}})
	events := must.Read(t, filepath.Join(dir, "events", "sample.ndjson"))
	d.check(strings.Split(strings.TrimSpace(string(events)), "\n"))
}

// inFolder runs a command as a user would, without the AWS configuration of the developer.
func inFolder(t *testing.T, dir string, env []string, command ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), samTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(samEnvironment(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}
