package endpoint

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/netip"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/localstack"
)

const (
	port = "4566/tcp"
	// startTime is how long the container may take until it answers. 5 to 15 s are usual. A machine
	// with much other work needs minutes.
	startTime = 5 * time.Minute
)

// start runs LocalStack in a container that lives until Close.
func start(ctx context.Context, image string) (*Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var said strings.Builder
	// The code below waits for it, not the library, because the library knows only one address.
	c, err := localstack.Run(ctx, image, testcontainers.WithLogger(log.New(&said, "", 0)), testcontainers.CustomizeRequestOption(unawaited),
		testcontainers.WithHostConfigModifier(local(ctx)))
	e := &Endpoint{Name: "localstack", stop: func(ctx context.Context) error {
		if c == nil {
			return nil
		}
		return testcontainers.TerminateContainer(c, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	}}
	if err == nil {
		err = e.find(ctx, c)
	}
	if err == nil {
		err = e.probe(ctx)
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w\n%s%s", image, err, said.String(), lastWords(c))
		_ = e.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return e, nil
}

func unawaited(r *testcontainers.GenericContainerRequest) error {
	r.WaitingFor = nil
	return nil
}

// local limits the container to what these tests need. There is no Docker socket inside. If the
// engine is on this machine, the port is only on the loopback interface.
func local(ctx context.Context) func(*container.HostConfig) {
	return func(h *container.HostConfig) {
		h.Binds = nil
		p, err := testcontainers.NewDockerProvider()
		if err != nil {
			return
		}
		defer p.Close()
		if host, err := p.DaemonHost(ctx); err == nil && (host == "localhost" || host == "127.0.0.1") {
			h.PortBindings = network.PortMap{network.MustParsePort(port): {{HostIP: netip.MustParseAddr("127.0.0.1")}}}
		}
	}
}

// find waits until LocalStack answers at one of the addresses that its port may have for us. If
// /.dockerenv exists, the library believes that we are in a container beside LocalStack, and
// returns the address of the bridge. That is wrong if the engine runs in here too.
func (e *Endpoint) find(ctx context.Context, c *localstack.LocalStackContainer) error {
	named, err := c.PortEndpoint(ctx, port, "http")
	if err != nil {
		return err
	}
	mapped, err := c.MappedPort(ctx, port)
	if err != nil {
		return err
	}
	for {
		for _, e.URL = range []string{"http://127.0.0.1:" + mapped.Port(), named} {
			if e.healthy(ctx) {
				return nil
			}
		}
		timer := time.NewTimer(200 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("it does not answer, neither at port %s of 127.0.0.1 nor at %s, within %v", mapped.Port(), named, startTime)
		case <-timer.C:
		}
	}
}

func (e *Endpoint) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, ok := e.health(ctx)
	return ok
}

// lastWords returns the end of the container's log, for an error.
func lastWords(c *localstack.LocalStackContainer) string {
	if c == nil || c.Container == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r, err := c.Logs(ctx)
	if err != nil {
		return ""
	}
	defer r.Close()
	text, _ := io.ReadAll(r)
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}
