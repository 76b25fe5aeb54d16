// Package dynoxide runs Dynoxide, a DynamoDB with streams. [Fetch] finds the binary and [Start]
// starts it in its own process, on loopback and in memory. Tests compare the engine in
// internal/local/embedded with it. The crash test and the benchmarks run on it.
package dynoxide

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// fetchTime is how long the download from the package registry may take.
	fetchTime = 40 * time.Second
	// startTime is how long it may take until the emulator accepts connections. Some 20 ms are
	// usual.
	startTime = 10 * time.Second
)

// Fetch returns the path of the pinned binary. If the binary is not there yet, scripts/dynoxide.sh
// fetches it. The error is the script's own sentence.
func Fetch(ctx context.Context) (path string, err error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	fetch := exec.CommandContext(ctx, filepath.Join(root, "scripts", "dynoxide.sh"))
	fetch.WaitDelay = time.Second
	var said strings.Builder
	fetch.Stderr = &said
	out, err := fetch.Output()
	if err != nil {
		return "", fmt.Errorf("%s (%w)", strings.TrimSpace(said.String()), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// root returns the folder of the module that contains the working directory.
func root() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("dynoxide: the working directory is in no Go module; run this inside the repository")
		}
		folder = parent
	}
}

// Process is a running emulator. Each begins empty: it has nothing that another one stored.
type Process struct {
	URL string
	PID int

	cmd    *exec.Cmd
	output bytes.Buffer // read only once the process has ended
	ended  chan struct{}
}

// Start runs the binary and returns when it accepts connections.
func Start(ctx context.Context, binary string) (*Process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p := &Process{URL: "http://" + address, ended: make(chan struct{})}
	p.cmd = exec.Command(binary, "--host", "127.0.0.1", "--port", strconv.Itoa(port))
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	p.PID = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait() // how it ends matters only if nobody asked it to, and then its output explains it
		close(p.ended)
	}()
	if err := p.await(ctx, address); err != nil {
		p.Close()
		return nil, fmt.Errorf("emulator %s: %w; it printed %q", binary, err, p.output.String())
	}
	return p, nil
}

// Close ends the process and waits until it has ended.
func (p *Process) Close() {
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.ended
}

// freePort returns a port that nobody used a moment ago. (With port 0 the emulator picks a port and
// does not say which.)
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (p *Process) await(ctx context.Context, address string) error {
	for deadline := time.Now().Add(startTime); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it takes no connection: %w", err)
		}
		timer := time.NewTimer(5 * time.Millisecond)
		select {
		case <-timer.C:
		case <-p.ended:
			timer.Stop()
			return errors.New("it ended at once")
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
