package integration

import (
	"bufio"
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
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
	root, err := filepath.Abs("..")
	must.Succeed(t, err)
	s := &samCLI{root: root, architecture: "x86_64"}
	if runtime.GOARCH == "arm64" {
		s.architecture = "arm64"
	}
	s.overrides = []string{"Architecture=" + s.architecture}
	installed, err := filepath.Glob(filepath.Join(root, ".cache", "sam-*", "complete"))
	must.Succeed(t, err)
	if len(installed) > 0 {
		s.path = filepath.Join(filepath.Dir(installed[len(installed)-1]), "bin", "sam")
	} else if s.path, err = exec.LookPath("sam"); err != nil {
		endpoint.Absent(t, "the SAM CLI is neither in .cache nor on PATH; to have these tests run: "+samCommand)
	}
	if err := endpoint.Docker(t.Context(), lambdaImage+"-"+s.architecture, samCommand); err != nil {
		var missing *endpoint.Missing
		if errors.As(err, &missing) {
			endpoint.Absent(t, missing.What+"; to have these tests run: "+missing.Command)
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
	cmd := s.command(ctx, env, args...)
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

// command returns a command of sam that is interrupted when the context ends.
func (s *samCLI) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	args = append(args, "--config-file", filepath.Join(s.root, "samconfig.toml"), "--parameter-overrides")
	args = append(args, s.overrides...)
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Dir = s.root
	cmd.Env = append(samEnvironment(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // sam then removes its container
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// samEnvironment returns the environment of this process, without the AWS configuration of the
// developer.
func samEnvironment() []string {
	// With credentials, sam would ask AWS whose they are and wait for an answer. sam gives the
	// functions made-up ones.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	// Compiling sam again is half of the time of an invocation. The settings of some machines would
	// make sam do that.
	return append(env, "PYTHONDONTWRITEBYTECODE=", "SAM_CLI_TELEMETRY=0", "AWS_REGION="+endpoint.Region, "AWS_DEFAULT_REGION="+
		endpoint.Region,
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
		must.Succeed(t, err)
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
	return s.run(t, nil, "local", "invoke", function, "--skip-pull-image", "--template", template, "--env-vars", environment,
		"--event", filepath.Join("events", file))
}

// samLambda is a sam local start-lambda: an endpoint that runs each invocation in its own
// container.
type samLambda struct{ url string }

var runningOn = regexp.MustCompile(`Running on (http://\S+)`)

// startLambda starts sam local start-lambda, which ends with the test.
func (s *samCLI) startLambda(t *testing.T, template, environment string) *samLambda {
	t.Helper()
	// The context of the test ends before its cleanups, and sam must be interrupted only once.
	ctx, interrupt := context.WithCancel(context.WithoutCancel(t.Context()))
	// The host is the one that samconfig.toml adds for sam local invoke.
	cmd, said := s.command(ctx, nil, "local", "start-lambda", "--port", "0", "--skip-pull-image", "--template", template,
		"--env-vars", environment, "--add-host", "host.docker.internal:host-gateway"), &output{}
	cmd.Stdout = said
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		interrupt()
		t.Fatal(err)
	}
	address, over := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(over)
		for lines := bufio.NewReader(stderr); ; {
			line, err := lines.ReadString('\n')
			_, _ = said.Write([]byte(line))
			if found := runningOn.FindStringSubmatch(line); found != nil {
				select {
				case address <- found[1]:
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		interrupt()
		<-over
		_ = cmd.Wait() // it reports the interrupt
		if t.Failed() {
			t.Logf("sam local start-lambda printed:\n%s", said)
		}
	})
	select {
	case url := <-address:
		return &samLambda{url}
	case <-over:
		t.Fatal("sam local start-lambda has ended before it could be asked")
	case <-time.After(samTime):
		t.Fatalf("sam local start-lambda has not begun to listen within %v", samTime)
	}
	return nil
}

// invoke sends one file of events/ to a function and returns the answer.
func (l *samLambda) invoke(t *testing.T, function, file string) []byte {
	t.Helper()
	payload := must.Read(t, filepath.Join("..", "events", file))
	ctx, cancel := context.WithTimeout(t.Context(), samTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/2015-03-31/functions/"+function+"/invocations",
		bytes.NewReader(payload))
	must.Succeed(t, err)
	request.Close = true // a connection that is kept open would outlive the tests
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s with %s: %s, %v: %s", function, file, response.Status, err, answer)
	}
	return answer
}
