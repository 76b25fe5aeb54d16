// Package endpoint finds the AWS endpoint for the integration tests. [Open] returns the endpoint
// that INTEGRATION_ENDPOINT names, or else LocalStack in its own container.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// Image is the last LocalStack that runs without an account token. Later versions ask for one.
const Image = "localstack/localstack:4.14.0"

// digest is that of Image in the registry. A tag can be moved, so Image is pulled by its digest.
const digest = "sha256:3ebc37595918b8accb852f8048fef2aff047d465167edd655528065b07bc364a"

// These environment variables choose the endpoint.
const (
	URLVariable      = "INTEGRATION_ENDPOINT" // a running endpoint, such as http://127.0.0.1:4566
	ImageVariable    = "INTEGRATION_IMAGE"    // uses this image instead of Image
	RequiredVariable = "INTEGRATION_REQUIRED" // if 1, a missing endpoint fails the tests instead of skipping them
)

const reaperVariable = "TESTCONTAINERS_RYUK_DISABLED" // the library's own variable; if false, the library reaps

// Endpoint is a running endpoint.
type Endpoint struct {
	URL  string
	Name string // for test names: localstack, or endpoint if it is not known to be LocalStack
	SQS  bool   // it has queues
	S3   bool   // it has buckets

	stop func(context.Context) error

	mu         sync.Mutex
	transports []*http.Transport // of all clients
}

// Close ends what Open started, and the connections of the clients. An endpoint that was already
// running stays.
func (e *Endpoint) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.transports {
		t.CloseIdleConnections()
	}
	if e.stop == nil {
		return nil
	}
	return e.stop(ctx)
}

// Missing says what is missing, and which command would provide it.
type Missing struct {
	What    string
	Command string
	Err     error
}

// Error returns one line.
func (m *Missing) Error() string {
	return fmt.Sprintf("%s; to have these tests run: %s (or set %s). Cause: %v", m.What, m.Command, URLVariable, m.Err)
}

func (m *Missing) Unwrap() error { return m.Err }

// Open finds or starts an endpoint. If nothing can be started, the error is a [*Missing]. Any other
// error comes from an endpoint that should work but does not.
func Open(ctx context.Context, getenv func(string) string) (*Endpoint, error) {
	return open(ctx, getenv, engineTime, pullSilence)
}

func open(ctx context.Context, getenv func(string) string, wait, silence time.Duration) (*Endpoint, error) {
	if text := getenv(URLVariable); text != "" {
		return running(ctx, text)
	}
	image := getenv(ImageVariable)
	if image == "" {
		image = Image
	}
	// The library's reaper is a container of its own, and a registry would have to provide its
	// image too. Close ends what was started here, so the reaper is not needed. This must come
	// before the first call of the library.
	if os.Getenv(reaperVariable) == "" {
		if err := os.Setenv(reaperVariable, "true"); err != nil {
			return nil, err
		}
	}
	engine, err := connect(ctx, wait)
	if err != nil {
		return nil, &Missing{What: "no Docker engine answers", Command: "scripts/docker-engine.sh && scripts/localstack-image.sh", Err: err}
	}
	defer engine.close()
	if err := have(ctx, engine, image, silence); err != nil {
		return nil, &Missing{What: fmt.Sprintf("the image %s is not on this Docker engine and cannot be pulled", image),
			Command: "scripts/localstack-image.sh", Err: err}
	}
	return start(ctx, image)
}

// running opens an endpoint that was named.
func running(ctx context.Context, text string) (*Endpoint, error) {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") {
		return nil, fmt.Errorf("%s is %q: write a URL such as http://127.0.0.1:4566", URLVariable, text)
	}
	e := &Endpoint{URL: text, Name: "endpoint"}
	if err := e.probe(ctx); err != nil {
		return nil, fmt.Errorf("%s=%s does not answer as an AWS endpoint: %w", URLVariable, text, err)
	}
	return e, nil
}

var errNoAnswer = errors.New("no answer in time")
