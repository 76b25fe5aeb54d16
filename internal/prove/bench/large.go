package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/demo"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	smallRun      = 60_000 // the most events of the small run, with which the large run is compared
	smallest      = 100    // the fewest events of a large run
	flightsPerDay = 920
	dearerAtMost  = 1.10
	growthMB      = 16 // how much more than the small run the large one may hold besides the items
)

// weighed is one run of the demo, with what it took.
type weighed struct {
	events   int
	cost     demo.Cost
	took     time.Duration
	cpu      time.Duration
	rolls    int
	items    float64 // bytes in memory for the items, including the totals
	besides  float64 // bytes in memory for everything else, at the end
	most     float64 // the same at its highest, while the events were sent
	resident int     // kilobytes of the process at its peak; 0 if unknown
}

// large sends many events through the demo, a little more than 900 for each day. Before that it
// sends a few of the same kind. What an event costs, and what the memory holds besides the items,
// must not depend on how many events there were.
func (b *bench) large(ctx context.Context) error {
	n := min(smallRun, b.events/2)
	few, err := b.weigh(ctx, n)
	if err != nil {
		return err
	}
	many, err := b.weigh(ctx, b.events)
	if err != nil {
		return err
	}
	b.head("Large: the demo with %d flights and with %d, %d a day, three families of totals of all time and one of days, with all its "+
		"trouble; its checks found no difference", few.events, many.events, flightsPerDay)
	for _, w := range []*weighed{few, many} {
		each := func(total float64) float64 { return total / float64(w.events) }
		fmt.Fprintf(b.out,
			"  %9d events: %.3f write units each to store, %.3f to count; shards rolled %d times; %.3f ms of CPU each, %.0f s\n",
			w.events, w.cost.Events.WriteUnits, w.cost.Totals.WriteUnits, w.rolls, each(float64(w.cpu.Microseconds()))/1000,
			w.took.Seconds())
		fmt.Fprintf(b.out, "                    %.0f MB in items (%.0f bytes each), %.1f MB besides at the end and %.1f at the most",
			w.items/(1<<20), each(w.items), w.besides/(1<<20), w.most/(1<<20))
		if w.resident > 0 {
			fmt.Fprintf(b.out, "; the process had %.0f MB at its peak", float64(w.resident)/1024)
		}
		fmt.Fprintln(b.out)
	}
	b.atMost("write units to store an event, of many to few", many.cost.Events.WriteUnits/few.cost.Events.WriteUnits, dearerAtMost)
	b.atMost("write units to count an event, of many to few", many.cost.Totals.WriteUnits/few.cost.Totals.WriteUnits, dearerAtMost)
	b.atMost("MB more besides the items at the end", (many.besides-few.besides)/(1<<20), growthMB)
	b.atMost("MB more besides the items at the most", (many.most-few.most)/(1<<20), growthMB)
	return nil
}

// weigh runs the demo. Then it removes its parts one after the other, to see what they held.
func (b *bench) weigh(ctx context.Context, events int) (*weighed, error) {
	p, err := pipeline.Load(files, "flights.yaml")
	if err != nil {
		return nil, err
	}
	before := held()
	var engine *embedded.Engine
	var all float64
	scale := &scale{}
	config := demo.Config{Data: flights(events), Plan: p, Seed: 7, Progress: scale.step}
	config.Tamper = func(_ context.Context, e *embedded.Engine) error {
		engine, all = e, held()
		return nil
	}
	fmt.Fprintf(b.talk, "bench: %d flights …\n", events)
	cpu, began := processorTime(), time.Now()
	summary, err := demo.Run(ctx, config)
	if err != nil {
		return nil, err
	}
	w := &weighed{events: events, cost: summary.Cost, took: time.Since(began), cpu: processorTime() - cpu}
	if !summary.Same || summary.Kept.Items != events {
		return nil, fmt.Errorf("%d flights: %d items, and the checks found differences: %v", events, summary.Kept.Items, summary.Checks)
	}
	for _, one := range summary.Trouble {
		if one.Kind == "shards-rolled" {
			w.rolls = one.Injected
		}
	}
	summary = nil
	with := held()
	if err := errors.Join(engine.Forget(stack.Events), engine.Forget(stack.Aggregates)); err != nil {
		return nil, err
	}
	w.items = with - held()
	runtime.KeepAlive(engine)
	w.besides = all - before - w.items
	w.most = scale.most(before, w.items/float64(events))
	if w.resident, err = residentPeak(os.Getpid()); errors.Is(err, os.ErrNotExist) {
		err = nil // this system does not report it
	}
	return w, err
}

// held returns how many bytes of the heap are still referred to.
func held() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// scale weighs the heap at each sixteenth of a run.
type scale struct {
	events  []int
	holding []float64
}

func (s *scale) step(at show.Step) {
	if at.Total > 0 && at.Done*16 >= at.Total*(len(s.events)+1) {
		s.events, s.holding = append(s.events, at.Done), append(s.holding, held())
	}
}

// most returns the most that was held besides the items.
func (s *scale) most(before, eachItem float64) (most float64) {
	for i, n := range s.events {
		most = max(most, s.holding[i]-before-eachItem*float64(n))
	}
	return most
}

// flights returns n events, spread evenly over the days that they take.
func flights(n int) demo.Data {
	origins, carriers := []string{"EWR", "JFK", "LGA"}, []string{"9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA",
		"US", "VX", "WN", "YV"}
	first := time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC)
	return demo.Data{Name: "flights", About: "SYNTHETIC", Events: n, Distinct: true, Lines: func() iter.Seq2[demo.Line, error] {
		return func(yield func(demo.Line, error) bool) {
			die := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range n {
				at := first.Add(time.Duration(i) * (24 * time.Hour / flightsPerDay)).Truncate(time.Second)
				body := fmt.Sprintf(
					`{"id":"f%08d","country":"US","origin":%q,"carrier":%q,"dest":"D%03d","tail":"N%05d","miles":%d,"delay":%d,"minutes":%d,"at":%q}`,
					i, origins[die.IntN(len(origins))], carriers[die.IntN(len(carriers))], die.IntN(105), die.IntN(4000), 80+die.IntN(4900),
					die.IntN(330)-30, 20+die.IntN(600), at.Format(time.RFC3339))
				if !yield(demo.Line{Number: i + 1, Message: envelope.Message{Body: body}}, nil) {
					return
				}
			}
		}
	}}
}
