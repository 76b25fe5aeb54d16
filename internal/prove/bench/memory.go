package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

const (
	sandboxMB = 256 // the function's memory size
	largestMB = 200 // what the process may use of it; the rest is for Lambda's own part and the kernel
	largest   = 10_000
)

// memory passes the largest batch that Lambda sends to the built ingest function. Then it asks the
// kernel for the most memory that the process ever had. The batch comes again and again. The first
// time everything is new. After that everything is already stored, so the function must read what
// is stored.
func (b *bench) memory(ctx context.Context) error {
	batch, err := largestBatch()
	if err != nil {
		return err
	}
	url, on, stop, err := b.table(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	peak, err := b.peak(ctx, url, resident{"./cmd/ingest", "orders.yaml", sandboxMB, [][]byte{batch, batch, batch}})
	if errors.Is(err, os.ErrNotExist) {
		b.note("memory: not measured, because this system has no /proc")
		return nil
	}
	if err != nil {
		return err
	}
	b.head("Memory: a batch of %d messages, %.2f MB, %d times to the built cmd/ingest in a function of %d MB, on %s; %.1f s", largest,
		float64(len(batch))/(1<<20), 3, sandboxMB, on, time.Since(began).Seconds())
	b.atMost("MB resident at the peak", float64(peak)/1024, largestMB)
	return nil
}

const (
	streamsMB     = 512 // memory size of the streams function
	mostStreamsMB = 200 // what its process may use
)

// streamsMemory does the same for the built streams function. It sends batches of 1,000 changes,
// each of which touches 4,000 totals. First the changes are new, then they come again, and then
// others take them out.
func (b *bench) streamsMemory(ctx context.Context) error {
	changes, err := b.storedItems(ctx)
	if err != nil {
		return err
	}
	var batches [][]byte
	for _, kind := range []string{"INSERT", "INSERT", "REMOVE"} {
		some, err := streamBatches(changes, manyBatch, kind)
		if err != nil {
			return err
		}
		for _, batch := range some {
			batches = append(batches, batch)
		}
	}
	e, err := startEmulator(ctx, b.emulator)
	if err != nil {
		return err
	}
	defer e.Close()
	peak, err := b.peak(ctx, e.URL, resident{"./cmd/streams", "many.yaml", streamsMB, batches})
	if errors.Is(err, os.ErrNotExist) {
		b.note("memory of streams: not measured, because this system has no /proc")
		return nil
	}
	if err != nil {
		return err
	}
	b.head("Memory: %d batches of %d changes, each onto %d totals, to the built cmd/streams in a function of %d MB", len(batches),
		manyBatch, manyBatch*manyAggregates, streamsMB)
	b.atMost("MB resident at the peak of streams", float64(peak)/1024, mostStreamsMB)
	return nil
}

// table returns the emulator, or a substitute: a table that accepts everything and stores nothing.
func (b *bench) table(ctx context.Context) (url, name string, stop func(), err error) {
	if b.emulator == "" {
		r := newRecorder()
		return r.URL, "a table that only says yes", r.Close, nil
	}
	e, err := startEmulator(ctx, b.emulator)
	if err != nil {
		return "", "", nil, err
	}
	return e.URL, "the emulator", e.Close, nil
}

// resident is a built function, and the payloads with which it is invoked, one after another.
type resident struct {
	command, plan string
	memory        int // MB
	batches       [][]byte
}

// peak returns the peak memory of the function, in kilobytes.
func (b *bench) peak(ctx context.Context, url string, f resident) (int, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	binary, plan := filepath.Join(folder, "bootstrap"), filepath.Join(folder, f.plan)
	if err := runtimeapi.Build(ctx, f.command, binary, ""); err != nil {
		return 0, err
	}
	text, err := files.ReadFile(f.plan)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		return 0, err
	}
	var output bytes.Buffer
	p, err := runtimeapi.Start(ctx,
		runtimeapi.Config{Binary: binary, Memory: f.memory, Timeout: time.Minute, Stdout: &output, Stderr: &output,
			Env: map[string]string{"AWS_ENDPOINT_URL": url, "INGOT_TABLE": eventsTable, "INGOT_AGGREGATES_TABLE": totalsTable,
				"INGOT_PIPELINE": plan}})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	for _, batch := range f.batches {
		answer, err := p.Invoke(ctx, batch, 0)
		if err == nil && !bytes.HasPrefix(answer, []byte(`{"batchItemFailures":[]`)) {
			err = fmt.Errorf("it answered %.200s", answer)
		}
		if err != nil {
			p.Close() // this must be done before output is read, because the process writes to it
			return 0, fmt.Errorf("%w; the function printed %.2000s", err, output.String())
		}
	}
	return residentPeak(p.PID())
}

// largestBatch returns a batch just below Lambda's limit. More than half of it is what SQS adds to
// each message, so the orders are small.
func largestBatch() ([]byte, error) {
	e := events.SQSEvent{Records: make([]events.SQSMessage, largest)}
	for i := range e.Records {
		e.Records[i] = message(i,
			fmt.Sprintf(
				`{"type":"order.placed","merchant_id":"m-%02d","order_id":"o-%05d","placed_at":"2099-02-03T04:05:06Z","total_cents":12599,"trace_id":""}`, i%merchants, i))
	}
	batch, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	// The rest of the limit goes into the bodies.
	if room := (runtimeapi.MaxPayload - len(batch)) / largest; room > 0 {
		pad := `trace_id\":\"` + strings.Repeat("0", room)
		batch = bytes.ReplaceAll(batch, []byte(`trace_id\":\"`), []byte(pad))
	}
	if len(batch) > runtimeapi.MaxPayload || len(batch) < runtimeapi.MaxPayload*99/100 {
		return nil, fmt.Errorf("the largest batch has %d bytes", len(batch))
	}
	return batch, nil
}

// outputAndPeak runs a command. It returns what the command prints, and the most megabytes that it
// had in memory, or 0 on a system without /proc. The peak in a process's state will not do: there,
// Linux counts the memory of the process that started it as well.
func outputAndPeak(cmd *exec.Cmd) (out []byte, mb float64, err error) {
	var printed bytes.Buffer
	cmd.Stdout = &printed
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	most := 0
	for {
		if kilobytes, err := residentPeak(cmd.Process.Pid); err == nil {
			most = max(most, kilobytes)
		}
		select {
		case err := <-ended:
			return printed.Bytes(), float64(most) / 1024, err
		case <-tick.C:
		}
	}
}

// residentPeak returns the most memory that a process ever had resident, in kilobytes, as the
// kernel counts it.
func residentPeak(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kilobytes, err := strconv.Atoi(number)
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/status: VmHWM: %w", pid, err)
	}
	return kilobytes, nil
}
