package runtimeapi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

func wantExit(t *testing.T, err error, cause runtimeapi.Cause, during bool) {
	t.Helper()
	var exit *runtimeapi.ExitError
	if !errors.As(err, &exit) || exit.Cause != cause || (exit.RequestID != "") != during {
		t.Fatalf("error %v (%#v), want that the process %v", err, err, cause)
	}
}

// inProgress starts a process whose handler hangs. It returns once the handler runs.
func inProgress(t *testing.T, ctx context.Context) (*runtimeapi.Process, <-chan error) {
	t.Helper()
	out := newScreen()
	p := start(t, runtimeapi.Config{Stdout: out})
	result := make(chan error, 1)
	go func() {
		_, err := p.Invoke(ctx, []byte(`{"do":"hang"}`), 0)
		result <- err
	}()
	out.waitFor("hanging")
	return p, result
}

func TestKillInProgress(t *testing.T) {
	p, result := inProgress(t, t.Context())
	p.Kill()
	select {
	case <-p.Dead():
	default:
		t.Error("the process lives after Kill has returned")
	}
	wantExit(t, <-result, runtimeapi.Killed, true)
	p.Kill() // changes nothing
	p.Close()
	if p.Exit().Cause != runtimeapi.Killed {
		t.Errorf("Exit() is %v", p.Exit())
	}
}

func TestCloseInProgress(t *testing.T) {
	p, result := inProgress(t, t.Context())
	p.Close()
	wantExit(t, <-result, runtimeapi.Closed, true)
	p.Close()
}

func TestContextEndsInProgress(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, result := inProgress(t, ctx)
	cancel()
	err := <-result
	wantExit(t, err, runtimeapi.Canceled, true)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap context.Canceled", err)
	}
}

func TestContextEndsBeforeTheHandOver(t *testing.T) {
	p := start(t, runtimeapi.Config{Env: map[string]string{"START": "hang"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Invoke(ctx, []byte(`{}`), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if p.Exit() != nil {
		t.Errorf("the process was ended without need: %v", p.Exit())
	}
}

func TestContextOfStartEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := runtimeapi.Start(ctx, runtimeapi.Config{Binary: bootstrap(t)})
	must.Succeed(t, err)
	defer p.Close()
	_, err = invoke(t, p, `{"do":"echo"}`)
	must.Succeed(t, err)
	cancel()
	<-p.Dead()
	_, err = invoke(t, p, `{"do":"echo"}`)
	wantExit(t, err, runtimeapi.Canceled, false)
}

// TestConcurrentInvocations shows that concurrent callers are served one after the other, each with
// its own answer.
func TestConcurrentInvocations(t *testing.T) {
	p := start(t, runtimeapi.Config{})
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			text := fmt.Sprintf(`"caller %d"`, i)
			got, err := p.Invoke(t.Context(), []byte(`{"do":"echo","text":`+text+`}`), 0)
			if err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", text, got, err)
			}
		})
	}
	group.Wait()
}

// TestKillAtRandomMoments does what crash tests do. It kills hundreds of processes while they
// start, work, answer or wait. Each time, the caller gets either the answer or an *ExitError. In
// the end, no goroutine, file or port is left.
func TestKillAtRandomMoments(t *testing.T) {
	binary := bootstrap(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d; the moments also depend on the machine, so a replay is only alike", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	warm := start(t, runtimeapi.Config{}) // what the standard library starts once must not count
	_, err := invoke(t, warm, `{"do":"echo"}`)
	must.Succeed(t, err)
	span := int64(3 * warm.ColdStart()) // a third of them die while they start, on any machine
	warm.Close()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)

	answered, killed := 0, 0
	for range 150 {
		out := newScreen()
		p, err := runtimeapi.Start(t.Context(), runtimeapi.Config{Binary: binary, Stdout: out, Stderr: out})
		must.Succeed(t, err)
		timer := time.AfterFunc(time.Duration(random.Int64N(span)), p.Kill)
		for err == nil {
			var got []byte
			if got, err = invoke(t, p, `{"do":"echo","text":"x"}`); err == nil {
				answered++
				if string(got) != `"x"` {
					t.Fatalf("answer %q", got)
				}
			}
		}
		var exit *runtimeapi.ExitError
		if !errors.As(err, &exit) || exit.Cause != runtimeapi.Killed {
			t.Fatalf("error %v; the process printed %s", err, out)
		}
		killed++
		timer.Stop()
		p.Close()
	}
	if killed != 150 || answered == 0 {
		t.Errorf("%d killed, %d answers", killed, answered)
	}
	t.Logf("%d answers from %d processes", answered, killed)
	settles(t, "goroutines", runtime.NumGoroutine, goroutines)
	settles(t, "open files", func() int { return openFiles(t) }, files)
}

func TestThePortIsReleased(t *testing.T) {
	p := start(t, runtimeapi.Config{})
	raw, err := invoke(t, p, `{"do":"env"}`)
	must.Succeed(t, err)
	address := regexp.MustCompile(`AWS_LAMBDA_RUNTIME_API=([0-9.:]+)`).FindStringSubmatch(string(raw))[1]
	p.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	listener.Close()
}

// settles waits until the count is back at its earlier value. Goroutines take a moment to return
// after they have reported that they are done.
func settles(t *testing.T, what string, count func() int, before int) {
	t.Helper()
	limit := time.Now().Add(10 * time.Second)
	for count() > before {
		if time.Now().After(limit) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d %s, were %d\n%s", count(), what, before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}

// openFiles counts the file descriptors of this process. It returns 0 if the system does not list
// them.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	must.Succeed(t, err)
	return len(entries)
}
