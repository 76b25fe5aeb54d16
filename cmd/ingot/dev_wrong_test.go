package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestDevThatCannotStart shows the exit code and the one sentence of each reason.
func TestDevThatCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	const free = "--port 0 --port-console 0"
	for name, c := range map[string]struct {
		prepare func(t *testing.T)
		line    string
		code    int
		want    string
	}{
		"the port is taken": {nil, "--port " + port + " --port-console 0", exitFailed, "ingot: port " + port +
			" is taken by another program, perhaps by another ingot dev: end that one, or choose a port with --port\n"},
		"the console's port is taken": {nil, "--port 0 --port-console " + port, exitFailed, "ingot: port " + port +
			" is taken by another program, perhaps by another ingot dev: end that one, or choose a port with --port-console\n"},
		"both ports are taken": {nil, "--port " + port + " --port-console " + port, exitFailed, "ingot: ports " + port + " and " +
			port + " are taken by other programs, perhaps by another ingot dev: end that one, or take free ports with --port 0 --port-console 0\n"},
		"not a port": {nil, "--port 70000", exitUsage,
			"--port 70000: give a port from 1 to 65535, or 0 for any free one"},
		"an address of another": {nil, free + " --host 192.0.2.1", exitFailed, "port 0 of 192.0.2.1 cannot be used"},
		"another one has the folder": {func(t *testing.T) {
			running(t)
		}, free, exitFailed, fmt.Sprintf("ingot: another ingot dev (process %d) runs with the data in ", os.Getpid())},
		"no pipeline": {nil, free + " --pipeline no.yaml", exitUsage,
			"ingot: no.yaml: no such file or directory; name the pipeline with --pipeline FILE, or make one with: ingot init"},
		"a broken pipeline": {func(t *testing.T) {
			change(t, "pipeline.yaml", "window: 1d", "window: 1fortnight")
		}, free, exitUsage, "ingot: the pipeline has mistakes:\npipeline.yaml:13:13: "},
		"the data is a file": {func(t *testing.T) {
			write(t, "data", "hello")
		}, free + " --data data", exitFailed,
			"ingot: the data folder data cannot be made: not a directory; name another with --data\n"},
		"data of another one": {func(t *testing.T) {
			must.Succeed(t, writeInto("data", map[string]string{"ingot.db": strings.Repeat("hello", 9999)}))
		}, free + " --data data", exitFailed, "is not data of ingot dev"},
		"kept with another pipeline": {func(t *testing.T) {
			running(t)()
			change(t, "pipeline.yaml", `"ORDER#{order_id}"`, `"ORDERS#{order_id}"`)
		}, free, exitFailed, "was stored with another pipeline.yaml, and this one does not agree with it:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "pipeline.yaml", killPipeline)
			if c.prepare != nil {
				c.prepare(t)
			}
			got := tool(t, "dev "+c.line).says(t, c.code, c.want)
			must.Equal(t, got.out, "")
		})
	}
}

// said is what a command that runs has printed so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until a text was printed.
func (s *said) await(t *testing.T, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("printed was:\n%s", s)
		}
	}()
	until(t, "it prints "+text, func() bool { return strings.Contains(s.String(), text) })
}

// running runs ingot dev in the working directory, until end or the end of the test.
func running(t *testing.T) (end func()) {
	t.Helper()
	_, end = runningDev(t)
	return end
}

func runningDev(t *testing.T) (errors *said, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, errors := &said{}, &said{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"dev", "--port", "0", "--port-console", "0"}, func(string) (string, bool) {
			return "", false
		}, strings.NewReader(""), out, errors)
	}()
	end = sync.OnceFunc(func() {
		cancel()
		must.Equal(t, <-code, exitFine, errors)
	})
	t.Cleanup(end)
	out.await(t, "runs on this machine. Ctrl-C ends it.")
	return errors, end
}

// TestPipelineThatBreaksWhileDevRuns breaks pipeline.yaml, and mends it again. Meanwhile events are
// stored by the file of before.
func TestPipelineThatBreaksWhileDevRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "pipeline.yaml", killPipeline)
	errors, end := runningDev(t)
	line := func(n int) string {
		return fmt.Sprintf(
			`{"type":"order.placed","order_id":"o-%d","merchant_id":"m","placed_at":"2026-03-01T09:00:00Z","total_cents":%d}`, n, n)
	}
	send := func(n int) {
		t.Helper()
		write(t, "events.ndjson", line(n))
		tool(t, "send events.ndjson --local --wait").says(t, exitFine)
	}
	send(1)
	change(t, "pipeline.yaml", "window: 1d", "window: 1fortnight")
	errors.await(t, "ingot dev: pipeline.yaml has changed, but the functions still use the previous file:\n  pipeline.yaml:13:13: ")
	write(t, "pipeline.yaml", strings.Replace(killPipeline, "sum total_cents", "max total_cents", 1))
	errors.await(t, "epoch")
	write(t, "pipeline.yaml", killPipeline)
	errors.await(t, "pipeline.yaml is the file that runs again")
	send(2)
	// send waits until the events are stored, and they are counted after that.
	until(t, "no difference", func() bool { return tool(t, "verify --local").code == exitFine })
	end()
}
