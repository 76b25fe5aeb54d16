package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
)

// These are what ingot send is measured with, and its limits.
const (
	sentEvents = 100_000
	sendSlower = 3.0 // times as long as calling the engine directly
	sendMB     = 128 // megabytes of the process at its peak
)

// send measures ingot send of a file into an ingot dev, beside calling the engine directly. Both
// keep their data on the disk, and both functions run meanwhile.
func (b *bench) send(ctx context.Context) error {
	tool, direct := &series{name: "ingot send"}, &series{name: "the engine, called directly"}
	turns, most := min(b.turns, 3), 0.0
	err := byTurns(turns, []*series{tool, direct}, func(way int) (run, error) {
		folder, err := os.MkdirTemp("", "bench")
		defer os.RemoveAll(folder)
		if err != nil {
			return run{}, err
		}
		events := filepath.Join(folder, "events.ndjson")
		if err := writeReadings(events, sentEvents); err != nil {
			return run{}, err
		}
		if way == 1 {
			took, err := directly(ctx, folder, events)
			return run{events: sentEvents, took: took}, err
		}
		took, mb, err := byTool(ctx, events)
		most = max(most, mb)
		return run{events: sentEvents, took: took}, err
	})
	if err != nil {
		return err
	}
	b.head("ingot send, with %d events of %d bytes into ingot dev; %d runs of each by turns", sentEvents, eventBytes, turns)
	_, rate, _ := tool.spread(run.rate)
	_, directRate, _ := direct.spread(run.rate)
	fmt.Fprintf(b.out, "  %.0f events a second, and %.0f where the engine is called directly\n", rate, directRate)
	b.atMost("times as long as calling the engine directly", ratio(tool, direct, func(r run) float64 {
		return r.took.Seconds()
	}), sendSlower)
	b.atMost("MB of ingot send at its peak", most, sendMB)
	return nil
}

// byTool sends the events by ingot send to an ingot dev of its own. It returns how long the sending
// took, and the megabytes of ingot send at its peak.
func byTool(ctx context.Context, events string) (took time.Duration, mb float64, err error) {
	folder, d, err := newDev(ctx, devPipeline)
	defer os.RemoveAll(folder)
	if err != nil {
		return 0, 0, err
	}
	if _, err := d.start(ctx); err != nil {
		return 0, 0, err
	}
	defer d.kill()
	cmd := exec.CommandContext(ctx, d.binary, "send", events, "--local", "--output", "json")
	cmd.Dir = folder
	out, mb, err := outputAndPeak(cmd)
	if err != nil {
		return 0, 0, fmt.Errorf("ingot send: %w", err)
	}
	var report struct {
		Sent    int     `json:"sent"`
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Sent != sentEvents {
		return 0, 0, fmt.Errorf("ingot send sent %d of %d: %w", report.Sent, sentEvents, err)
	}
	return time.Duration(report.Seconds * float64(time.Second)), mb, nil
}

// writeReadings writes a file of events.
func writeReadings(name string, events int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for n := range events {
		_, _ = w.WriteString(devReading(n) + "\n") // Flush tells
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// directly sends the events by the engine's own methods, and returns how long that took.
func directly(ctx context.Context, folder, events string) (time.Duration, error) {
	own := filepath.Join(folder, "direct")
	if err := os.Mkdir(own, 0o755); err != nil {
		return 0, err
	}
	file := filepath.Join(own, "pipeline.yaml")
	if err := os.WriteFile(file, []byte(devPipeline), 0o600); err != nil {
		return 0, err
	}
	d, err := dev.Start(ctx, dev.Config{File: file, Data: filepath.Join(own, "data")})
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Close() }() // what it has stored is not needed
	f, err := os.Open(events)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	began := time.Now()
	if _, err := send.Lines(ctx, send.Config{Queue: d.Engine().SQS(), URL: d.Local().QueueURL}, ndjson.Lines(f)); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
