package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	planFile   = "plain.yaml"
	planFolder = "pipeline/testdata"
	planRounds = 10
	planEvents = 20_000
)

// plan times decoding and planning on one core, from the body to the item with its key, digest,
// index keys and contributions. The pipeline is the example of the design, with two indexes and two
// aggregates.
func (b *bench) plan() error {
	p, err := pipeline.Load(os.DirFS(planFolder), planFile)
	if err != nil {
		return fmt.Errorf("%w; run this in the module's root", err)
	}
	bodies := make([]string, planEvents)
	for i := range bodies {
		bodies[i] = order(i)
	}
	var times, ratios []float64
	var allocations, bytes float64
	for range planRounds {
		took, before, after, err := planAll(p, bodies)
		if err != nil {
			return err
		}
		plain, err := unmarshalAll(bodies)
		if err != nil {
			return err
		}
		times = append(times, float64(took.Nanoseconds())/1000/planEvents)
		ratios = append(ratios, took.Seconds()/plain.Seconds())
		allocations = float64(after.Mallocs-before.Mallocs) / planEvents
		bytes = float64(after.TotalAlloc-before.TotalAlloc) / planEvents
	}
	least, median, _ := sorted(times)
	_, ratio, _ := sorted(ratios)
	b.head("Decode and plan an order of %d bytes, two indexes and two aggregates, no hmac; %d rounds of %d", bodyBytes, planRounds,
		planEvents)
	fmt.Fprintf(b.out, "  %.2f µs each in the fastest round, %.2f in the median; %.1f allocations, %.0f bytes\n", least, median,
		allocations, bytes)
	b.atMost("microseconds, fastest round", least, 10)
	b.atMost("times json.Unmarshal of the same bytes into a map, median of the rounds", ratio, 1.5)
	return nil
}

func planAll(p *pipeline.Pipeline, bodies []string) (took time.Duration, before, after runtime.MemStats, err error) {
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	for _, body := range bodies {
		if _, err := p.Plan(envelope.Message{Body: body}); err != nil {
			return 0, before, after, err
		}
	}
	took = time.Since(began)
	runtime.ReadMemStats(&after)
	return took, before, after, nil
}

// unmarshalAll decodes the same bodies as a program would that does not know their form. Planning
// is compared with this, so the result does not depend on the speed of the machine.
func unmarshalAll(bodies []string) (time.Duration, error) {
	runtime.GC()
	began := time.Now()
	for _, body := range bodies {
		var members map[string]any
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// head begins a section.
func (b *bench) head(format string, args ...any) {
	fmt.Fprintf(b.out, "\n"+format+".\n\n", args...)
}

func (b *bench) note(format string, args ...any) {
	_, _ = io.WriteString(b.out, fmt.Sprintf("  "+format+"\n", args...))
}
