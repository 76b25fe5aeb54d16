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
	// A build or an invocation takes seconds; on a machine that does much else, and where nothing is compiled yet, minutes.
	samTime = 8 * time.Minute
)

// samCLI is the SAM CLI, run in the root of the repository with the settings of samconfig.toml.
type samCLI struct {
	path, root, architecture string
	overrides                []string // of the template's parameters
}

// findSAM is the one that scripts/sam.sh has installed, else the one on PATH; without it, or without Docker and the
// base image, the test is skipped as those that need LocalStack are.
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

// run runs sam without the developer's AWS configuration, and returns what it printed to standard output.
func (s *samCLI) run(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), samTime)
	defer cancel()
	args = append(args, "--config-file", filepath.Join(s.root, "samconfig.toml"), "--parameter-overrides")
	args = append(args, s.overrides...)
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Dir = s.root
	cmd.Env = append(samEnvironment(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // on which sam removes its container
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

// samEnvironment is this process's without the developer's AWS configuration.
func samEnvironment() []string {
	// With credentials sam would ask AWS whose they are, and wait for an answer; the functions get made-up ones from it.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	// Compiling sam anew is half of an invocation's time, which some machines' settings would have it do.
	return append(env, "PYTHONDONTWRITEBYTECODE=", "SAM_CLI_TELEMETRY=0", "AWS_REGION="+endpoint.Region, "AWS_DEFAULT_REGION="+endpoint.Region,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true")
}

// build builds both functions as make build does, into a directory of this test, and returns the built template.
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
		// A cached build of other flags would be taken for this one.
		if settings["-tags"] != tags || settings["CGO_ENABLED"] != "0" {
			t.Fatalf("%s is built with %v, want the tags %s and no cgo", function, settings, tags)
		}
	}
	return filepath.Join(dir, "template.yaml")
}

// invoke sends one file of events/ to a function in a container of its own, and returns its answer. Log lines are not
// looked at: sam may stop listening before the last of them.
func (s *samCLI) invoke(t *testing.T, template, function, file, environment string) []byte {
	t.Helper()
	name := map[string]string{"ingest": "IngestFunction", "streams": "StreamsFunction"}[function]
	return s.run(t, nil, "local", "invoke", name, "--skip-pull-image", "--template", template, "--env-vars", environment,
		"--event", filepath.Join("events", file))
}
