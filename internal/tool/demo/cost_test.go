package demo

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/cost"
	samples "github.com/ingot-events/ingot/internal/tool/sample"
)

// sampled plans the events of a run as `ingot cost --events` does.
func sampled(t *testing.T, r *run, changes, messages float64) *cost.Sampled {
	t.Helper()
	s := cost.NewSampled("the demo", shards, changes, messages)
	plannedAll(t, r, s.Add)
	return s
}

// plannedAll returns what `ingot check --events` says about the events of a run. each, if not nil,
// is called for every line.
func plannedAll(t *testing.T, r *run, each func(samples.Judged)) *samples.Report {
	t.Helper()
	var lines strings.Builder
	for line, err := range r.Data.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&lines, strings.ReplaceAll(line.Message.Body, "\n", " "))
	}
	report, err := (&samples.Sampler{Pipeline: r.Plan, Now: r.first, Each: each}).Read("the demo", strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// shards is how many partitions the engine's tables have.
const shards = 2

// TestCostIsWhatIsCounted shows that ingot cost computes for the demo's events what the engine
// counts when the demo runs without trouble. With trouble the two are about equal, because more is
// delivered again than the estimate knows of.
func TestCostIsWhatIsCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it runs all the data three times")
	}
	for _, config := range []Config{earthquakes(t, aggregate.Marks), orders(t, seed, aggregate.Marks)} {
		for _, calm := range []bool{true, false} {
			if calm != (config.Data.Name == "earthquakes") && !slow.All() {
				continue // each of the data in one way
			}
			t.Run(fmt.Sprintf("%s, calm %v", config.Data.Name, calm), func(t *testing.T) {
				config.Calm = calm
				r := &run{Config: config}
				r.setDefaults()
				if err := r.produce(t.Context()); err != nil {
					t.Fatal(err)
				}
				events, w := float64(r.summary.Data.Events), r.world
				span := r.producer.newest.Sub(r.first).Seconds()
				in := cost.Input{Pipeline: r.Plan, Rate: events / span, Partitions: shards, Memory: cost.DefaultMemory,
					Architecture: "arm64",
					Messages:     float64(w.ledger.deliveries) / float64(w.ingest.batches),
					Changes:      float64(w.ledger.records) / float64(w.streams.batches)}
				in.Events = sampled(t, r, in.Changes, in.Messages)
				in.Duplicates = (float64(w.ledger.deliveries) - events) / events
				report := cost.Compute(in)
				sum := func(counted string, parts ...string) (n float64) {
					for _, p := range report.Parts {
						for _, name := range parts {
							if p.Name == name && p.Counted == counted {
								n += p.AMillion / 1e6
							}
						}
					}
					return n
				}
				real := w.cost(r.summary.Data.Events)
				for _, c := range []struct {
					what              string
					computed, counted float64
					within            float64 // as a part of what is counted
				}{
					{"write units to store", sum("write units", "puts", "indexes", "repetitions"), real.Events.WriteUnits, unitsWithin},
					{"requests to store", sum("DynamoDB requests", "puts"), real.Events.Requests, requestsWithin},
					{"read units to store", sum("read units", "repetitions"), real.Events.ReadUnits, unitsWithin},
					{"write units to count", sum("write units", "totals", "marks"), real.Totals.WriteUnits, unitsWithin},
					{"requests to count", sum("DynamoDB requests", "totals"), real.Totals.Requests, requestsWithin},
					{"read units to count", sum("read units", "totals"), real.Totals.ReadUnits, unitsWithin},
				}[:compared(calm)] {
					if !calm {
						c.within = troubledWithin
					}
					off := math.Abs(c.computed - c.counted)
					t.Logf("%-20s  computed %.3f, counted %.3f an event", c.what, c.computed, c.counted)
					if off > c.within*c.counted && off > fewer {
						t.Errorf("%s: %.3f an event computed and %.3f counted, which is not within %.0f %%", c.what, c.computed, c.counted,
							100*c.within)
					}
				}
			})
		}
	}
}

// TestArchivedBytes shows that an object of the archive is larger than its item by about as much as
// ingot cost assumes.
func TestArchivedBytes(t *testing.T) {
	config := earthquakes(t, aggregate.Marks)
	config.Calm = true
	r := &run{Config: config}
	r.setDefaults()
	if err := r.produce(t.Context()); err != nil {
		t.Fatal(err)
	}
	planned := plannedAll(t, r, nil)
	if err := r.judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, err := r.world.Objects(t.Context())
	if err != nil || len(names) != planned.Items.Count {
		t.Fatalf("%d objects of %d items, %v", len(names), planned.Items.Count, err)
	}
	bytes := 0
	for _, name := range names {
		out, err := r.world.Engine.S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(stack.Bucket), Key: &name})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(body)
	}
	form := float64(bytes) / float64(len(names)) / planned.Items.Mean
	t.Logf("an object has %.2f times the bytes of its item", form)
	if form < cost.ArchiveForm*0.8 || form > cost.ArchiveForm*1.2 {
		t.Errorf("an object has %.2f times the bytes of its item, and %.2f is supposed", form, cost.ArchiveForm)
	}
}

// These are the tolerances. A difference of less than fewer for each event does not count. A batch
// with a few totals more takes other requests, and the computed figures are of a batch of average
// size.
const (
	unitsWithin    = 0.10
	requestsWithin = 0.25
	troubledWithin = 0.15
	fewer          = 0.05
)

// compared returns how many of the figures are compared. With trouble it is only the first. The
// estimate knows how many messages come again. It does not know how many requests are refused, or
// how many changes come again.
func compared(calm bool) int {
	if calm {
		return 6
	}
	return 1
}
