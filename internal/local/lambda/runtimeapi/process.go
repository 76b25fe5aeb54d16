// Package runtimeapi runs a built Lambda bootstrap as Lambda does. It serves the Lambda Runtime API
// (version 2018-06-01) on a loopback port and starts the binary with the environment that Lambda
// gives it. Then it hands over one payload after another and returns the answers. [Start] starts a
// [Process], and [Process.Invoke] hands it a payload. The package measures cold starts. It can also
// end a Process by SIGKILL at any moment, so that crash tests find out what a half-done batch
// leaves behind.
//
// One Process is one sandbox: one operating system process, one port, one invocation at a time.
// When the process ends, its port and its goroutines end with it. Like a sandbox it does not come
// back, so start another. The package does not have extensions, telemetry, response streaming,
// SnapStart, or several invocations at once.
package runtimeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// MaxPayload is the most bytes that an invocation may carry or answer: Lambda's 6 MB and 100 bytes.
const MaxPayload = 6<<20 + 100

// These are the defaults of Config.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultInitTimeout = 10 * time.Second // Lambda's own limit for the init phase
	DefaultMemory      = 256              // MB
	DefaultName        = "function"
)

// reapDelay is how long the output of a dead process may stay open because a child of it holds it.
const reapDelay = time.Second

// Config says what to run.
type Config struct {
	Binary string // required: path of the built bootstrap

	// Env is the configured environment of the function. The process gets Env and the variables
	// that Lambda sets. It gets none of the caller's own variables: a developer's AWS profile must
	// not leak into a test. If Lambda sets a name too, Env wins, except for the address of this
	// API.
	Env map[string]string

	Name        string        // AWS_LAMBDA_FUNCTION_NAME; empty: DefaultName
	Memory      int           // AWS_LAMBDA_FUNCTION_MEMORY_SIZE in MB, reported but not enforced; 0: DefaultMemory
	Timeout     time.Duration // longest invocation if Invoke names none; 0: DefaultTimeout
	InitTimeout time.Duration // longest time from start to the first request for work; 0: DefaultInitTimeout

	Stdout, Stderr io.Writer // nil: discarded. If both are the same writer, one goroutine writes to it
}

// Process is a running bootstrap. Several goroutines may call its methods.
type Process struct {
	config  Config
	cmd     *exec.Cmd
	server  *http.Server
	started time.Time

	turn  chan struct{}    // holds one token: the right to invoke
	work  chan *invocation // an Invoke to a waiting "next"; unbuffered, so sent means handed out
	ready chan struct{}    // closed when the process first asks for work
	dead  chan struct{}    // closed once the process is reaped; ended is set before
	gone  chan struct{}    // closed once the port and all goroutines are released too

	mu        sync.Mutex // guards the rest
	current   *invocation
	requests  int64
	cause     Cause
	initError *FunctionError
	init      time.Duration
	cold      time.Duration
	ended     *ExitError
}

// Start listens, starts the binary and returns at once. The time until the process asks for work is
// its cold start, and counts for the first Invoke. When ctx ends, the process is killed. A Process
// that is no longer needed must be closed, unless it is dead.
func Start(ctx context.Context, config Config) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("runtimeapi: start %s: %w", config.Binary, err)
	}
	// Lambda runs the function in its own folder, where a relative path would not work.
	binary, err := filepath.Abs(config.Binary)
	if err != nil {
		return nil, fmt.Errorf("runtimeapi: start %s: %w", config.Binary, err)
	}
	config.Binary = binary
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("runtimeapi: listen for %s: %w", binary, err)
	}
	p := &Process{
		config: config.withDefaults(),
		turn:   make(chan struct{}, 1),
		work:   make(chan *invocation),
		ready:  make(chan struct{}),
		dead:   make(chan struct{}),
		gone:   make(chan struct{}),
	}
	p.cmd = exec.Command(binary)
	p.cmd.Dir = filepath.Dir(binary)
	p.cmd.Env = p.config.environment(listener.Addr().String())
	p.cmd.Stdout, p.cmd.Stderr = config.Stdout, config.Stderr
	p.cmd.WaitDelay = reapDelay
	p.server = &http.Server{Handler: p.routes()}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		listener.Close()
		return nil, fmt.Errorf("runtimeapi: start %s: %w", binary, err)
	}
	go p.serve(listener)
	stop := context.AfterFunc(ctx, func() { p.kill(Canceled) })
	go p.reap(stop)
	return p, nil
}

func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = DefaultName
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.InitTimeout == 0 {
		c.InitTimeout = DefaultInitTimeout
	}
	return c
}

// serve answers the process until reap shuts the server down. If the listener fails, the process
// would wait for ever, so serve kills it.
func (p *Process) serve(listener net.Listener) {
	if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		p.kill(Crashed)
	}
}

// reap waits for the end of the process. Then it releases the port and the goroutines that served
// it.
func (p *Process) reap(stop func() bool) {
	err := p.cmd.Wait()
	stop()
	p.mu.Lock()
	cause := p.cause
	if cause == 0 {
		cause = Crashed
	}
	p.ended = &ExitError{Binary: p.config.Binary, Cause: cause, State: p.cmd.ProcessState, Err: err}
	p.mu.Unlock()
	close(p.dead)

	// There is no peer left, so requests in progress end by themselves. The limit is for a request
	// that a child of the process keeps open.
	ctx, cancel := context.WithTimeout(context.Background(), reapDelay)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		p.server.Close()
	}
	close(p.gone)
}

// kill ends the process with SIGKILL. The first cause given is the one that is reported.
func (p *Process) kill(cause Cause) {
	p.mu.Lock()
	if p.cause == 0 {
		p.cause = cause
	}
	p.mu.Unlock()
	// Kill fails only if the process has already ended, which is fine.
	_ = p.cmd.Process.Kill()
}

// Kill ends the process with SIGKILL, whatever it is doing, and returns once it is gone. The
// process sends nothing after Kill has returned. An Invoke in progress returns an [*ExitError],
// unless its answer had arrived. Killing a dead process changes nothing.
func (p *Process) Kill() {
	p.kill(Killed)
	<-p.dead
}

// Close kills the process if it is alive, and waits until its port and goroutines are released. It
// may be called again.
func (p *Process) Close() {
	p.kill(Closed)
	<-p.gone
}

// Dead returns a channel that is closed when the process has ended, for whatever reason.
func (p *Process) Dead() <-chan struct{} { return p.dead }

// Exit returns how the process ended. It returns nil while the process is alive.
func (p *Process) Exit() *ExitError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Started returns the time just before the binary was executed.
func (p *Process) Started() time.Time { return p.started }

// Init returns the time from Started to the first request for work. It is 0 until then.
func (p *Process) Init() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.init
}

// ColdStart returns the time from Started to the complete answer to the first invocation. The
// answer may be a result or a function error. It is 0 until then.
func (p *Process) ColdStart() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cold
}
