package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// engine is what the code asks of Docker before a container is started.
type engine interface {
	present(ctx context.Context, image string) (bool, error)
	pull(ctx context.Context, image string) (io.ReadCloser, error)
	tag(ctx context.Context, image, name string) error
	close()
}

// These limit the time that a machine without Docker, or without a registry, may cost a test run.
const (
	engineTime = 5 * time.Second
	// pullSilence is how long a pull may show no progress. A registry that cannot be reached shows
	// none. A registry that can be reached shows some several times a second.
	pullSilence = 10 * time.Second
	pullTime    = 5 * time.Minute
)

type docker struct {
	provider *testcontainers.DockerProvider
}

// connect finds the Docker engine. A socket that accepts connections and does not answer within
// wait is not an engine. If DOCKER_HOST is set, no other engine is used.
func connect(ctx context.Context, wait time.Duration) (engine, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if os.Getenv(client.EnvOverrideHost) != "" {
		if err := named(ctx); err != nil {
			return nil, err
		}
	}
	type found struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	answer := make(chan found, 1)
	go func() {
		p, err := testcontainers.NewDockerProvider()
		answer <- found{p, err}
	}()
	select {
	case <-ctx.Done():
		return nil, errNoAnswer
	case f := <-answer:
		if f.err != nil {
			return nil, f.err
		}
		if _, err := f.provider.Client().Ping(ctx, client.PingOptions{}); err != nil {
			return nil, err
		}
		return docker{f.provider}, nil
	}
}

// named asks the engine that DOCKER_HOST names.
func named(ctx context.Context) error {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Ping(ctx, client.PingOptions{})
	return err
}

func (d docker) present(ctx context.Context, image string) (bool, error) {
	_, err := d.provider.Client().ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (d docker) pull(ctx context.Context, image string) (io.ReadCloser, error) {
	r, err := d.provider.Client().ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return nil, err
	}
	return progress{r, ctx}, nil
}

func (d docker) tag(ctx context.Context, image, name string) error {
	_, err := d.provider.Client().ImageTag(ctx, client.ImageTagOptions{Source: image, Target: name})
	return err
}

func (d docker) close() { _ = d.provider.Close() }

// progress reads a pull message by message. An error in the middle of the pull comes in a message.
type progress struct {
	client.ImagePullResponse
	ctx context.Context
}

// WriteTo writes one byte for each message, as a sign of life.
func (p progress) WriteTo(w io.Writer) (n int64, err error) {
	for message, err := range p.JSONMessages(p.ctx) {
		if err != nil {
			return n, err
		}
		if message.Error != nil {
			return n, message.Error
		}
		written, err := w.Write([]byte{'.'})
		n += int64(written)
		if err != nil {
			return n, err
		}
	}
	return n, p.ctx.Err()
}

// have makes sure that the engine has the image. It gives up soon if no registry answers.
func have(ctx context.Context, d engine, image string, silence time.Duration) error {
	inspecting, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	present, err := d.present(inspecting, image)
	if present || err != nil {
		return err
	}
	pulling, cancelPull := context.WithTimeoutCause(ctx, pullTime, fmt.Errorf("the pull took longer than %v", pullTime))
	defer cancelPull()
	if image != Image {
		return pull(pulling, d, image, silence)
	}
	repository, _, _ := strings.Cut(Image, ":")
	if err := pull(pulling, d, repository+"@"+digest, silence); err != nil {
		return err
	}
	return d.tag(pulling, repository+"@"+digest, Image)
}

// pull ends with an error if there is no sign of life for the given time.
func pull(ctx context.Context, d engine, image string, silence time.Duration) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := time.AfterFunc(silence, func() { stop(fmt.Errorf("no sign of a registry within %v", silence)) })
	defer watch.Stop()
	r, err := d.pull(ctx, image)
	if err == nil {
		_, err = io.Copy(alive{func() { watch.Reset(silence) }}, r)
		err = errors.Join(err, r.Close())
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// alive notes every write.
type alive struct{ note func() }

func (a alive) Write(p []byte) (int, error) {
	a.note()
	return len(p), nil
}
