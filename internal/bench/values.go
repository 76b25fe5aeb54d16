package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/itemform"
)

// valueEvents is how many numbers each distribution of the values part has.
const valueEvents = 200_000

// values compares the results of histogram and distinct with exact answers, on three distributions,
// and prints how large their totals get.
func (b *bench) values() error {
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
		if err := b.distribution(d.name, d.draw); err != nil {
			return err
		}
	}
	return nil
}

// distribution draws numbers and compares.
func (b *bench) distribution(name string, draw func() int64) error {
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
	fmt.Fprintf(b.out, "  %s: %d buckets take %d bytes, %d write units an update; %d different, estimated as %d, take %d bytes, %d write units an update\n",
		name, len(buckets), size, itemform.WriteUnits(size), len(different), sketch.Estimate(), len(sketch.Text()), itemform.WriteUnits(len(sketch.Text())))
	b.atMost("% off, the worst of nine quantiles, "+name, 100*worst, 100*aggregate.BucketError)
	b.atMost("% off, distinct, "+name, 100*off, 300*aggregate.DistinctError)
	return nil
}
