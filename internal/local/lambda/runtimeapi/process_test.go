package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

// buildDir is where the binary goes. TestMain makes it and removes it.
var buildDir string

// built compiles testdata/bootstrap once for all tests.
var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(buildDir, "bootstrap.exe")
	return binary, runtimeapi.Build(context.Background(), "./testdata/bootstrap", binary, "")
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "runtimeapi")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	// A closed process leaves no goroutine of ours behind, however it ended.
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func bootstrap(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a binary with the go command, which -short leaves out")
	}
	binary, err := built()
	must.Succeed(t, err)
	return binary
}

func start(t *testing.T, config runtimeapi.Config) *runtimeapi.Process {
	t.Helper()
	config.Binary = bootstrap(t)
	p, err := runtimeapi.Start(t.Context(), config)
	must.Succeed(t, err)
	t.Cleanup(p.Close)
	return p
}

// screen keeps what a process prints. A test can wait for a line instead of waiting for some time.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more sync.Cond
}

func newScreen() *screen {
	s := &screen{}
	s.more.L = &s.mu
	return s
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more.Broadcast()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) waitFor(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.text.String(), line+"\n") {
		s.more.Wait()
	}
}

func invoke(t *testing.T, p *runtimeapi.Process, payload string) ([]byte, error) {
	t.Helper()
	return p.Invoke(t.Context(), []byte(payload), 0)
}

func TestAnswersOneAfterTheOther(t *testing.T) {
	p := start(t, runtimeapi.Config{})
	for i := range 20 {
		text := strings.Repeat("é", i)
		got, err := invoke(t, p, `{"do":"echo","text":"`+text+`"}`)
		if err != nil || string(got) != `"`+text+`"` {
			t.Fatalf("invocation %d: %q, %v", i, got, err)
		}
	}
	if p.Exit() != nil {
		t.Errorf("the process ended: %v", p.Exit())
	}
}

func TestTimings(t *testing.T) {
	before := time.Now()
	p := start(t, runtimeapi.Config{})
	must.Equal(t, p.ColdStart(), 0)
	_, err := invoke(t, p, `{"do":"echo"}`)
	must.Succeed(t, err)
	total := time.Since(before)
	cold := p.ColdStart()
	if p.Started().Before(before) || p.Init() <= 0 || p.Init() >= cold || cold > total {
		t.Errorf("started %v after the call, init %v, cold start %v, all in all %v", p.Started().Sub(before), p.Init(), cold, total)
	}
	if _, err := invoke(t, p, `{"do":"echo"}`); err != nil || p.ColdStart() != cold {
		t.Errorf("cold start became %v with the second answer (%v), was %v", p.ColdStart(), err, cold)
	}
}

func TestFunctionErrors(t *testing.T) {
	tests := map[string]struct {
		payload, kind, message string
		dies                   bool
	}{
		"returned error":   {`{"do":"fail","text":"no table"}`, "errorString", "no table", false},
		"panic":            {`{"do":"panic","text":"nil map"}`, "string", "nil map", true},
		"payload not JSON": {`{`, "errorString", "unexpected EOF", false},
		"failing stream":   {`{"do":"stream","text":"half"}`, "errorString", "source ran dry", false},
		"too large response": {fmt.Sprintf(`{"do":"big","size":%d}`, runtimeapi.MaxPayload), "Function.ResponseSizeTooLarge",
			"maximum allowed", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, runtimeapi.Config{})
			got, err := invoke(t, p, tt.payload)
			var fe *runtimeapi.FunctionError
			if !errors.As(err, &fe) || fe.Type != tt.kind || !strings.Contains(fe.Message, tt.message) || fe.Init {
				t.Fatalf("answer %q, error %#v, want %s: %s", got, err, tt.kind, tt.message)
			}
			if tt.dies {
				<-p.Dead()
				return
			}
			if got, err := invoke(t, p, `{"do":"echo","text":"alive"}`); err != nil || string(got) != `"alive"` {
				t.Errorf("after the error: %q, %v", got, err)
			}
		})
	}
}

func TestLargestPayloads(t *testing.T) {
	p := start(t, runtimeapi.Config{})
	size := runtimeapi.MaxPayload - 2 // and two quotes
	got, err := invoke(t, p, fmt.Sprintf(`{"do":"big","size":%d}`, size))
	if err != nil || len(got) != runtimeapi.MaxPayload {
		t.Fatalf("answer of %d bytes, %v", len(got), err)
	}
	frame := `{"do":"echo","text":""}`
	text := strings.Repeat("y", runtimeapi.MaxPayload-len(frame))
	got, err = invoke(t, p, `{"do":"echo","text":"`+text+`"}`)
	if err != nil || string(got) != `"`+text+`"` {
		t.Fatalf("echo of %d bytes, %v", len(got), err)
	}
	_, err = p.Invoke(t.Context(), make([]byte, runtimeapi.MaxPayload+1), 0)
	must.Fail(t, err, "at most")
}

func TestDeathIsReported(t *testing.T) {
	tests := map[string]struct {
		config  runtimeapi.Config
		payload string
		cause   runtimeapi.Cause
		code    int
		during  bool
	}{
		"exit while starting": {runtimeapi.Config{Env: map[string]string{"START": "exit"}}, `{}`, runtimeapi.Crashed, 3, false},
		"never asks for work": {runtimeapi.Config{Env: map[string]string{"START": "hang"}, InitTimeout: 50 * time.Millisecond}, `{}`,
			runtimeapi.TimedOut, -1, false},
		"exit in the handler": {runtimeapi.Config{}, `{"do":"exit"}`, runtimeapi.Crashed, 7, true},
		"never answers":       {runtimeapi.Config{Timeout: 50 * time.Millisecond}, `{"do":"hang"}`, runtimeapi.TimedOut, -1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, tt.config)
			_, err := invoke(t, p, tt.payload)
			var exit *runtimeapi.ExitError
			if !errors.As(err, &exit) || exit.Cause != tt.cause || exit.State.ExitCode() != tt.code || (exit.RequestID != "") != tt.during {
				t.Fatalf("error %v (%#v), want %v with code %d", err, err, tt.cause, tt.code)
			}
			if _, again := invoke(t, p, `{"do":"echo"}`); !errors.As(again, &exit) || exit.RequestID != "" {
				t.Errorf("invoking the dead process: %v", again)
			}
			if p.Exit() == nil || p.Exit().Cause != tt.cause {
				t.Errorf("Exit() is %v", p.Exit())
			}
		})
	}
}

func TestFailedStartIsTold(t *testing.T) {
	p := start(t, runtimeapi.Config{Env: map[string]string{"START": "report"}})
	for range 2 {
		_, err := invoke(t, p, `{}`)
		var fe *runtimeapi.FunctionError
		if !errors.As(err, &fe) || !fe.Init || fe.Type != "Config.Missing" || fe.Message != "INGOT_TABLE is not set" {
			t.Fatalf("error %#v", err)
		}
	}
	<-p.Dead()
	if p.Exit().State.ExitCode() != 1 {
		t.Errorf("ended with %v", p.Exit())
	}
}

func TestTheFunctionSeesLambda(t *testing.T) {
	t.Setenv("AWS_PROFILE", "developer") // this must not reach the function
	p := start(t, runtimeapi.Config{Name: "ingest", Memory: 512, Env: map[string]string{"INGOT_TABLE": "events", "AWS_REGION": "us-west-2",
		"AWS_LAMBDA_RUNTIME_API": "other:1"}})
	raw, err := invoke(t, p, `{"do":"env"}`)
	must.Succeed(t, err)
	var env []string
	must.Succeed(t, json.Unmarshal(raw, &env))
	for _, want := range []string{"INGOT_TABLE=events", "AWS_REGION=us-west-2", "AWS_LAMBDA_FUNCTION_NAME=ingest",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"TZ=:UTC", "_HANDLER=bootstrap.exe", "LAMBDA_TASK_ROOT=" + filepath.Dir(bootstrap(t))} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, pair := range env {
		if strings.HasPrefix(pair, "AWS_PROFILE=") || strings.HasPrefix(pair, "HOME=") || pair == "AWS_LAMBDA_RUNTIME_API=other:1" {
			t.Errorf("%s got through", pair)
		}
	}
}

func TestTheInvocationCarriesItsContext(t *testing.T) {
	p := start(t, runtimeapi.Config{Name: "ingest", Memory: 512})
	ids := map[string]bool{}
	for range 3 {
		before := time.Now().Truncate(time.Millisecond)
		raw, err := p.Invoke(t.Context(), []byte(`{"do":"context"}`), 90*time.Second)
		after := time.Now()
		must.Succeed(t, err)
		var got struct{ ID, ARN, Trace, Deadline, Name, Memory string }
		must.Succeed(t, json.Unmarshal(raw, &got))
		if len(got.ID) != 36 || got.ARN != "arn:aws:lambda:eu-central-1:123456789012:function:ingest" ||
			!strings.HasPrefix(got.Trace, "Root=1-") || got.Name != "ingest" || got.Memory != "512" {
			t.Errorf("context %+v", got)
		}
		deadline, err := time.Parse(time.RFC3339Nano, got.Deadline)
		if err != nil || deadline.Before(before.Add(90*time.Second)) || deadline.After(after.Add(90*time.Second)) {
			t.Errorf("deadline %v (%v), want 90 s after a moment between %v and %v", got.Deadline, err, before, after)
		}
		ids[got.ID] = true
	}
	must.Equal(t, len(ids), 3, ids)
}

// TestProtocolViolations shows that a runtime that breaks the protocol gets Lambda's status codes,
// and that its first answer stands.
func TestProtocolViolations(t *testing.T) {
	out := newScreen()
	p := start(t, runtimeapi.Config{Stdout: out})
	got, err := invoke(t, p, `{"do":"misuse"}`)
	if err != nil || string(got) != `"first"` {
		t.Fatalf("answer %q, %v; want the first one", got, err)
	}
	<-p.Dead() // aws-lambda-go gives up if its own answer is refused
	want := []string{
		"started",
		"status 403 InvalidStateTransition", // next while an answer is owed
		"status 400 InvalidRequestID",       // an answer under another id
		"status 400 InvalidRequestID",       // an error under another id
		"status 403 InvalidStateTransition", // a failed start after the start
		"status 404",                        // an unknown path
		"status 405",                        // a wrong method
		"status 202",                        // the answer
		"status 403 InvalidStateTransition", // the answer once more
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(lines, want) {
		t.Errorf("the process saw\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := runtimeapi.Start(t.Context(), runtimeapi.Config{Binary: filepath.Join(t.TempDir(), "absent")}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a missing binary: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runtimeapi.Start(ctx, runtimeapi.Config{Binary: "any"}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestBuildError(t *testing.T) {
	bootstrap(t) // for its skip
	err := runtimeapi.Build(t.Context(), "./testdata/absent", filepath.Join(t.TempDir(), "b"), "")
	must.Fail(t, err, "testdata/absent")
}
