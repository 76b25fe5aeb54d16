package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

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
	ours, plain := &series{name: "ingot"}, &series{name: "json.Unmarshal"}
	var before, after runtime.MemStats
	err = byTurns(planRounds, []*series{ours, plain}, func(way int) (run, error) {
		if way == 1 {
			return decodeEach(bodies, func(body string) error {
				var members map[string]any
				return json.Unmarshal([]byte(body), &members)
			})
		}
		runtime.ReadMemStats(&before)
		defer runtime.ReadMemStats(&after)
		return decodeEach(bodies, func(body string) error {
			_, err := p.Plan(envelope.Message{Body: body})
			return err
		})
	})
	if err != nil {
		return err
	}
	took := func(r run) float64 { return r.took.Seconds() * 1e6 / planEvents }
	least, median, _ := ours.spread(took)
	b.head("Decode and plan an order of %d bytes, two indexes and two aggregates, no hmac; %d rounds of %d", bodyBytes, planRounds,
		planEvents)
	fmt.Fprintf(b.out, "  %.2f µs each in the fastest round, %.2f in the median; %.1f allocations, %.0f bytes\n", least, median,
		float64(after.Mallocs-before.Mallocs)/planEvents, float64(after.TotalAlloc-before.TotalAlloc)/planEvents)
	b.atMost("microseconds, fastest round", least, 10)
	b.atMost("times json.Unmarshal of the same bytes into a map, median of the rounds", ratio(ours, plain, took), 1.5)
	return nil
}

// decodeEach measures what decodes all bodies. Planning is compared with a program that does not
// know their form, so the result does not depend on the speed of the machine.
func decodeEach(bodies []string, decode func(string) error) (run, error) {
	return measure(func() error {
		for _, body := range bodies {
			if err := decode(body); err != nil {
				return err
			}
		}
		return nil
	})
}

// head begins a section.
func (b *bench) head(format string, args ...any) {
	fmt.Fprintf(b.out, "\n"+format+".\n\n", args...)
}

func (b *bench) note(format string, args ...any) {
	_, _ = io.WriteString(b.out, fmt.Sprintf("  "+format+"\n", args...))
}
