package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// silence is how long a pull may show no progress in these tests, in a bubble with its own clock.
const silence = 300 * time.Millisecond

// The library that talks to Docker remembers the first engine that it found. So each case that
// needs it is a process of its own: this test binary, run as the program below.

func TestMain(m *testing.M) {
	if os.Getenv("ENDPOINT_TEST_OPEN") == "" {
		goleak.VerifyTestMain(m) // this exits; what asks an engine ends with the answer of the engine, or with its silence
	}
	wait, err := time.ParseDuration(os.Getenv("ENDPOINT_TEST_OPEN"))
	if err != nil {
		panic(err)
	}
	e, err := open(context.Background(), os.Getenv, wait, pullSilence)
	var missing *Missing
	fmt.Printf("missing: %v\nerror: %v\n", errors.As(err, &missing), err)
	if e != nil {
		fmt.Println("endpoint:", e.Name, e.URL)
		_ = e.Close(context.Background())
	}
	os.Exit(0)
}

// opened runs open in a process with these variables. It returns what the process said.
func opened(t *testing.T, variables ...string) (said string) {
	t.Helper()
	return openedIn(t, engineTime, variables...)
}

// openedIn is opened where an engine may take so long to answer.
func openedIn(t *testing.T, wait time.Duration, variables ...string) (said string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "INTEGRATION_") && !strings.HasPrefix(v, "DOCKER_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, append(variables, "ENDPOINT_TEST_OPEN="+wait.String(), "HOME="+t.TempDir(),
		"TESTCONTAINERS_RYUK_DISABLED=true")...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func has(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		must.Say(t, said, part)
	}
}

func TestWithoutDocker(t *testing.T) {
	said := opened(t, "DOCKER_HOST=unix:///nonexistent/docker.sock")
	has(t, said, "missing: true", "no Docker engine answers", "scripts/docker-engine.sh", "INTEGRATION_ENDPOINT")
	if strings.Count(strings.TrimSpace(said), "\n") != 1 {
		t.Errorf("the reason is not one line:\n%s", said)
	}
}

// fakeEngine answers like a Docker engine that has no image. create answers the pull and the tag of
// one.
func fakeEngine(t *testing.T, create http.HandlerFunc) (host string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", socket)
	must.Succeed(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/images/create"), strings.HasSuffix(r.URL.Path, "/tag"):
			create(w, r)
		case strings.Contains(r.URL.Path, "/images/"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"No such image"}`)
		default:
			fmt.Fprint(w, `{}`)
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return "DOCKER_HOST=unix://" + socket
}

// TestWithoutImage lets Docker answer, but the image can be neither found nor pulled.
func TestWithoutImage(t *testing.T) {
	line := func(w http.ResponseWriter, text string) {
		fmt.Fprintln(w, text)
		w.(http.Flusher).Flush()
	}
	for name, c := range map[string]struct {
		create http.HandlerFunc
		reason string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"message":"dial tcp: lookup registry: no such host"}`)
		}, "no such host"},
		"failing in the middle": {func(w http.ResponseWriter, _ *http.Request) {
			line(w, `{"status":"Pulling from localstack"}`)
			line(w, `{"errorDetail":{"message":"unexpected EOF"},"error":"unexpected EOF"}`)
		}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			said := opened(t, fakeEngine(t, c.create), "INTEGRATION_IMAGE=localstack/localstack:9.9.9")
			has(t, said, "missing: true", "localstack/localstack:9.9.9", "cannot be pulled", "scripts/localstack-image.sh", c.reason)
		})
	}
}

// TestSilentEngine lets something listen at the engine's socket and never answer.
func TestSilentEngine(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", socket)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = l.Close() })
	said := openedIn(t, time.Second, "DOCKER_HOST=unix://"+socket)
	has(t, said, "missing: true", "no Docker engine answers")
}

// puller is an engine whose pull shows signs of life, with a pause before each of them, and then
// nothing any more. If it is complete, it ends after them.
type puller struct {
	engine
	pauses   []time.Duration
	complete bool
}

func (p puller) pull(ctx context.Context, _ string) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() {
		for _, pause := range p.pauses {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
				fmt.Fprintln(w, `{"status":"Downloading"}`)
			}
		}
		if !p.complete {
			<-ctx.Done()
		}
		_ = w.CloseWithError(ctx.Err())
	}()
	return r, nil
}

// A pull that makes progress may take its time. One that is silent, at once or after a while, is
// given up.
func TestSlowPull(t *testing.T) {
	slow := slices.Repeat([]time.Duration{silence - time.Millisecond}, 8)
	for name, c := range map[string]struct {
		engine puller
		took   time.Duration
		reason string // empty if the image comes
	}{
		"slow":                 {puller{pauses: slow, complete: true}, 8 * (silence - time.Millisecond), ""},
		"silent":               {puller{}, silence, "no sign of a registry"},
		"silent after a while": {puller{pauses: slow}, 8*(silence-time.Millisecond) + silence, "no sign of a registry"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := pull(t.Context(), c.engine, "an image", silence)
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if c.reason == "" && err != nil || c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
					t.Errorf("error %v, want %q", err, c.reason)
				}
			})
		})
	}
}

// TestPullByDigest shows that a tag that somebody has moved brings no other image.
func TestPullByDigest(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	said := opened(t, fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		q := r.URL.Query()
		if _, tagged, ok := strings.Cut(strings.TrimSuffix(r.URL.Path, "/tag"), "/images/localstack/localstack@"); ok {
			asked = append(asked, fmt.Sprintf("%s is %s:%s", tagged, q.Get("repo"), q.Get("tag")))
			w.WriteHeader(http.StatusCreated)
			return
		}
		asked = append(asked, "pull "+q.Get("fromImage")+"@"+q.Get("tag"))
	}))
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"pull docker.io/localstack/localstack@" + digest, digest +
		" is docker.io/localstack/localstack:4.14.0"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, not %q:\n%s", asked, want, said)
	}
}

func TestNamedEndpoint(t *testing.T) {
	said := opened(t, "INTEGRATION_ENDPOINT=localhost:4566")
	has(t, said, "missing: false", "INTEGRATION_ENDPOINT", "write a URL such as")
	// A named endpoint must work. If it does not, that is an error and not a reason to skip.
	said = opened(t, "INTEGRATION_ENDPOINT=http://127.0.0.1:1")
	has(t, said, "missing: false", "does not answer", "connection refused")
}

// TestEndpointWithoutQueues uses an endpoint with tables alone, like some emulators.
func TestEndpointWithoutQueues(t *testing.T) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.ListTables") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"TableNames":[]}`)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	e, err := Open(context.Background(), func(name string) string {
		return map[string]string{URLVariable: "http://" + l.Addr().String()}[name]
	})
	must.Succeed(t, err)
	if e.Name != "endpoint" || e.SQS || e.S3 {
		t.Errorf("%+v", e)
	}
	if c := e.Clients(); c.SQS != nil || c.S3 != nil || c.DynamoDB == nil || c.Streams == nil {
		t.Error("clients of services that are not there")
	}
}
