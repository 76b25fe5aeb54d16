package integration

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// shared is the one endpoint of this test run. It is opened when the first test asks for it.
var shared struct {
	once     sync.Once
	mu       sync.Mutex
	endpoint *endpoint.Endpoint
	clients  *endpoint.Clients
	err      error
	dynoxide *endpoint.Endpoint // set once a test has asked for it
}

// TestMain checks that no test leaves a goroutine behind. What talks to an endpoint ends with the
// endpoint.
func TestMain(m *testing.M) { goleak.VerifyTestMain(closing{m}) }

// closing runs the tests. Then it ends the endpoints that they opened, even if the tests are
// interrupted.
type closing struct{ tests *testing.M }

func (c closing) Run() int {
	var err error
	if built.dir, err = os.MkdirTemp("", "ingot-functions"); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	interrupted, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-interrupted:
			closeShared()
			_ = os.RemoveAll(built.dir)
			os.Exit(130)
		case <-over:
		}
	})
	code := c.tests.Run()
	closeShared()
	_ = os.RemoveAll(built.dir)
	signal.Stop(interrupted)
	close(over)
	watching.Wait()
	return code
}

func closeShared() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if shared.dynoxide != nil {
		_ = shared.dynoxide.Close(ctx) // this kills the process, which cannot fail
		shared.dynoxide = nil
	}
	if shared.endpoint == nil {
		return
	}
	if err := shared.endpoint.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "integration: the container could not be ended; remove it with docker rm -f:", err)
	}
	shared.endpoint = nil
}

// find opens the endpoint if no test has opened it yet.
func find() {
	shared.once.Do(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if shared.endpoint, shared.err = endpoint.Open(context.Background(), os.Getenv); shared.err == nil {
			shared.clients = shared.endpoint.Clients()
		}
	})
}

// endpointName returns the name that tests use for the endpoint.
func endpointName() string {
	if os.Getenv(endpoint.URLVariable) != "" {
		if find(); shared.err == nil {
			return shared.endpoint.Name
		}
	}
	return "localstack"
}

// open returns the endpoint. If there is none, it skips the test and says what is missing.
func open(t *testing.T) (*endpoint.Endpoint, *endpoint.Clients) {
	t.Helper()
	if testing.Short() && !endpoint.Required() {
		t.Skip("short: not against an endpoint; run without -short")
	}
	find()
	endpoint.Need(t, shared.err)
	return shared.endpoint, shared.clients
}
