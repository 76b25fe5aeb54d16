package integration

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/integration/endpoint"
	"github.com/ingot-events/ingot/internal/slow"
)

const (
	lambdaImage = "public.ecr.aws/lambda/provided:al2023"
	samCommand  = "scripts/lambda-base-image.sh && scripts/sam.sh"
	// A build or an invocation takes seconds. It takes minutes on a busy machine where nothing is
	// compiled yet.
	samTime = 8 * time.Minute
)

// samCLI is the SAM CLI. It runs in the root of the repository, with the settings of
// samconfig.toml.
type samCLI struct {
	path, root, architecture string
	overrides                []string // of the template's parameters
}

// findSAM returns the SAM CLI that scripts/sam.sh has installed, or else the one on PATH. Without
// it, or without Docker and the base image, the test is skipped, like the tests that need
// LocalStack.
func findSAM(t *testing.T) *samCLI {
	t.Helper()
	slow.Test(t, "it builds or invokes with the SAM CLI")
	required := os.Getenv(endpoint.RequiredVariable) == "1"
	absent := t.Skip
	if required {
		absent = t.Fatal
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	s := &samCLI{root: root, architecture: "x86_64"}
	if runtime.GOARCH == "arm64" {
		s.architecture = "arm64"
	}
	s.overrides = []string{"Architecture=" + s.architecture}
	installed, err := filepath.Glob(filepath.Join(root, ".cache", "sam-*", "complete"))
	if err != nil {
		t.Fatal(err)
	}
	if len(installed) > 0 {
		s.path = filepath.Join(filepath.Dir(installed[len(installed)-1]), "bin", "sam")
	} else if s.path, err = exec.LookPath("sam"); err != nil {
		absent("the SAM CLI is neither in .cache nor on PATH; to have these tests run: " + samCommand)
	}
	if err := endpoint.Docker(t.Context(), lambdaImage+"-"+s.architecture, samCommand); err != nil {
		var missing *endpoint.Missing
		if errors.As(err, &missing) {
			absent(missing.What + "; to have these tests run: " + missing.Command)
		}
		t.Fatal(err)
	}
	return s
}

// run runs sam without the AWS configuration of the developer. It returns what sam printed to
// standard output.
func (s *samCLI) run(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), samTime)
	defer cancel()
	args = append(args, "--config-file", filepath.Join(s.root, "samconfig.toml"), "--parameter-overrides")
	args = append(args, s.overrides...)
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Dir = s.root
	cmd.Env = append(samEnvironment(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // sam then removes its container
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("sam %s printed:\n%s%s", strings.Join(args, " "), stdout.Bytes(), stderr.Bytes())
		}
	})
	if err != nil {
		t.Fatalf("sam %s: %v", strings.Join(args, " "), err)
	}
	return stdout.Bytes()
}

// samEnvironment returns the environment of this process, without the AWS configuration of the
// developer.
func samEnvironment() []string {
	// With credentials, sam would ask AWS whose they are and wait for an answer. sam gives the
	// functions made-up ones.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	// Compiling sam again is half of the time of an invocation. The settings of some machines would
	// make sam do that.
	return append(env, "PYTHONDONTWRITEBYTECODE=", "SAM_CLI_TELEMETRY=0", "AWS_REGION="+endpoint.Region, "AWS_DEFAULT_REGION="+endpoint.Region,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true")
}

// build builds both functions as make build does, into a directory of this test. It returns the
// built template.
func (s *samCLI) build(t *testing.T, tags string) string {
	t.Helper()
	dir := t.TempDir()
	s.run(t, []string{"CGO_ENABLED=0", "GOFLAGS=-tags=" + tags + " -trimpath -ldflags=-s"}, "build", "--build-dir", dir)
	for _, function := range []string{"IngestFunction", "StreamsFunction"} {
		info, err := buildinfo.ReadFile(filepath.Join(dir, function, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		settings := map[string]string{}
		for _, b := range info.Settings {
			settings[b.Key] = b.Value
		}
		// A cached build with other flags would be mistaken for this one.
		if settings["-tags"] != tags || settings["CGO_ENABLED"] != "0" {
			t.Fatalf("%s is built with %v, want the tags %s and no cgo", function, settings, tags)
		}
	}
	return filepath.Join(dir, "template.yaml")
}

// invoke sends one file of events/ to a function in its own container, and returns the answer. It
// does not look at log lines, because sam may stop listening before the last of them.
func (s *samCLI) invoke(t *testing.T, template, function, file, environment string) []byte {
	t.Helper()
	name := map[string]string{"ingest": "IngestFunction", "streams": "StreamsFunction"}[function]
	return s.run(t, nil, "local", "invoke", name, "--skip-pull-image", "--template", template, "--env-vars", environment,
		"--event", filepath.Join("events", file))
}
