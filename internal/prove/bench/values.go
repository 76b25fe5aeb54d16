package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	valueEvents  = 200_000 // numbers of each distribution of the values part
	valueCounted = 10_000  // how many of them are also counted in a total, to see what that costs
)

// values compares the results of histogram and distinct with exact answers, on three distributions,
// and prints how large their totals get, and what a batch of changes costs.
func (b *bench) values(ctx context.Context) error {
	b.head("What histogram and distinct say of %d numbers, beside exact answers", valueEvents)
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.2, 10, 1<<20)
	for _, d := range []struct {
		name string
		draw func() int64
	}{
		{"evenly from 1 to 1,000,000", func() int64 { return 1 + rng.Int64N(1_000_000) }},
		{"latencies (log-normal)", func() int64 { return int64(math.Exp(rng.NormFloat64()*1.2+8)) + 1 }},
		{"few popular ones (Zipf)", func() int64 { return int64(zipf.Uint64()) + 1 }},
	} {
		if err := b.distribution(ctx, d.name, d.draw); err != nil {
			return err
		}
	}
	return nil
}

// distribution draws numbers and compares.
func (b *bench) distribution(ctx context.Context, name string, draw func() int64) error {
	buckets, different := aggregate.Buckets{}, map[int64]bool{}
	var sketch aggregate.Sketch
	all := make([]int64, valueEvents)
	for i := range all {
		all[i] = draw()
		buckets[aggregate.Bucket(event.DecimalOf(all[i]))]++
		different[all[i]] = true
		if err := sketch.Merge(aggregate.DistinctText(strconv.AppendInt(nil, all[i], 10))); err != nil {
			return err
		}
	}
	units := map[string]float64{}
	for _, value := range []string{"count", "histogram number", "distinct number"} {
		var err error
		if units[value], err = unitsABatch(ctx, value, all[:valueCounted]); err != nil {
			return fmt.Errorf("%s: %w", value, err)
		}
	}
	slices.Sort(all)
	worst := 0.0
	for _, q := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1} {
		got, _ := buckets.Quantile(q)
		is, err := strconv.ParseFloat(got.String(), 64)
		if err != nil {
			return err
		}
		exact := float64(all[int(math.Ceil(q*valueEvents))-1])
		worst = max(worst, math.Abs(is-exact)/exact)
	}
	off := math.Abs(float64(sketch.Estimate())/float64(len(different)) - 1)
	size := 0
	for k, n := range buckets {
		size += len("h:x:") + len(strconv.Itoa(k)) + itemform.NumberSize(strconv.FormatInt(n, 10))
	}
	fmt.Fprintf(b.out, "  %s: %d buckets take %d bytes; %d different, estimated as %d, take %d bytes\n",
		name, len(buckets), size, len(different), sketch.Estimate(), len(sketch.Text()))
	fmt.Fprintf(b.out,
		"  %d of them in one total, write units of a batch of %d changes: %s as a count, %s in a histogram, %s as distinct\n",
		valueCounted, changesABatch, short(units["count"]), short(units["histogram number"]), short(units["distinct number"]))
	b.atMost("% off, the worst of nine quantiles, "+name, 100*worst, 100*aggregate.BucketError)
	b.atMost("% off, distinct, "+name, 100*off, 300*aggregate.DistinctError)
	b.atMost("write units of a batch, histogram, "+name, units["histogram number"], 4)
	b.atMost("write units of a batch, distinct, "+name, units["distinct number"], 5)
	return nil
}

// unitsABatch counts one event for each number in one total that has a single value. It returns the
// write units of a batch of changes, as the engine counts them.
func unitsABatch(ctx context.Context, value string, numbers []int64) (float64, error) {
	t, err := newTabled(ctx, pipeline.Spec{
		Events: map[string]pipeline.EventSpec{"drawn": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "DRAWN#{id}", SK: "-"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"drawn": {Since: 1,
			From: map[string]pipeline.FromSpec{"drawn": {Values: map[string]string{"x": value}}}}}}, nil)
	if err != nil {
		return 0, err
	}
	bodies := make([]string, len(numbers))
	for i, number := range numbers {
		bodies[i] = fmt.Sprintf(`{"type":"drawn","id":"%d","at":"2026-03-01T10:00:00Z","number":%d}`, i, number)
	}
	items, err := planned(t.plan, bodies)
	if err != nil {
		return 0, err
	}
	r, err := t.measure(len(items), func() error { return countAll(ctx, t.Store, items) })
	return r.units / float64((len(items)+changesABatch-1)/changesABatch), err
}
