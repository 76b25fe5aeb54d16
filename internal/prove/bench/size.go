package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// These are the limits of ingot verify and ingot rebuild.
const (
	verifySeconds = 60  // of ingot verify with a million items and a million totals
	verifyMB      = 256 // of its process at its peak
	planOff       = 1.0 // percent that rebuild's units may differ from its --dry-run
)

// size measures ingot verify and ingot rebuild with many items, each of which has a total of its
// own. The tables are those of an ingot dev in another process, so the engine is in no figure of
// memory.
func (b *bench) size(ctx context.Context) error {
	text := strings.Replace(devPipeline, `by: {station: "{station}"}`+"\n    window: 1d", `by: {reading: "{reading}"}`, 1)
	folder, d, err := newDev(ctx, text)
	defer os.RemoveAll(folder)
	if err != nil {
		return err
	}
	if _, err := d.start(ctx); err != nil {
		return err
	}
	defer d.kill()
	fmt.Fprintf(b.talk, "bench: %d events of a total each …\n", b.events)
	if err := d.send(ctx, b.events); err != nil {
		return err
	}
	if err := d.settled(ctx, b.events); err != nil {
		return err
	}
	b.head("ingot verify and ingot rebuild, with %d items of %d bytes and %d totals in an ingot dev", b.events, eventBytes, b.events)
	if err := b.verifySize(ctx, d); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	more := strings.Replace(text, "epoch: 1", "epoch: 2", 1) +
		"  readings:\n    since: 2\n    from:\n      reading.taken: {values: {readings: count}}\n"
	if err := os.WriteFile(d.file, []byte(more), 0o600); err != nil {
		return err
	}
	if err := b.rebuildSize(ctx, d); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// settled waits until all events are stored and have their totals. The aggregates table also has
// some items of its own, so a few totals may still be under way. Verify says so.
func (d *devProcess) settled(ctx context.Context, events int) error {
	client := dynamodb.NewFromConfig(d.config())
	return every(ctx, 200*time.Millisecond, func() (bool, error) {
		if full, err := d.holds(ctx, client, d.local.EventsTable, events); !full || err != nil {
			return false, err
		}
		return d.holds(ctx, client, d.local.AggregatesTable, events)
	})
}

// tool runs the tool in the folder of the pipeline, and reads the JSON that it prints.
func (d *devProcess) tool(ctx context.Context, out any, args ...string) (took time.Duration, mb float64, err error) {
	cmd := exec.CommandContext(ctx, d.binary, append(args, "--output", "json")...)
	var talk strings.Builder
	cmd.Dir, cmd.Stderr = filepath.Dir(d.file), &talk
	began := time.Now()
	text, mb, err := outputAndPeak(cmd)
	took = time.Since(began)
	if err != nil {
		return 0, 0, fmt.Errorf("ingot %s: %w: %s", strings.Join(args, " "), err, talk.String())
	}
	return took, mb, json.Unmarshal(text, out)
}

// report is what ingot verify prints.
type report struct {
	Items, Totals int
	Units         float64
	Equal         bool
}

func (b *bench) right(r report) error {
	if !r.Equal || r.Items != b.events || r.Totals != b.events {
		return fmt.Errorf("it found %+v", r)
	}
	return nil
}

func (b *bench) verifySize(ctx context.Context, d devProcess) error {
	var r report
	var err error
	var took time.Duration
	var mb float64
	for range 5 { // the last totals may still be under way
		if took, mb, err = d.tool(ctx, &r, "verify", "--local", "--yes"); err == nil {
			break
		}
	}
	if err = errors.Join(err, b.right(r)); err != nil {
		return err
	}
	b.note("verify took %.1f s and %.0f read units", took.Seconds(), r.Units)
	b.atMost("seconds of ingot verify", took.Seconds(), verifySeconds)
	if mb > 0 {
		b.atMost("MB resident at the peak of ingot verify", mb, verifyMB)
	}
	return nil
}

func (b *bench) rebuildSize(ctx context.Context, d devProcess) error {
	var plan, did struct {
		Scanned, Touched      int
		ReadUnits, WriteUnits float64
	}
	for tries := 0; ; tries++ { // until ingot dev has taken the new file
		_, _, err := d.tool(ctx, &plan, "rebuild", "readings", "--local", "--dry-run")
		if err == nil {
			break
		}
		if tries == 50 {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	took, mb, err := d.tool(ctx, &did, "rebuild", "readings", "--local", "--yes")
	if err != nil {
		return err
	}
	if did.Touched != b.events {
		return fmt.Errorf("%d of %d items were touched", did.Touched, b.events)
	}
	b.note("rebuild touched %d items in %.1f s, with %.0f MB at its peak", did.Touched, took.Seconds(), mb)
	off := func(is, was float64) float64 { return math.Abs(is-was) / was * 100 }
	b.note("it planned %.0f read and %.0f write units, and took %.0f and %.0f", plan.ReadUnits, plan.WriteUnits, did.ReadUnits,
		did.WriteUnits)
	b.atMost("percent between the read units that rebuild planned and took", off(did.ReadUnits, plan.ReadUnits), planOff)
	b.atMost("percent between the write units that rebuild planned and took", off(did.WriteUnits, plan.WriteUnits), planOff)
	return nil
}
