package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// run is one measured run.
type run struct {
	events   int // new events that were stored, or changes that were counted
	took     time.Duration
	cpu      time.Duration // CPU time of this process
	requests float64
	units    float64 // write units
}

func (r run) rate() float64 { return float64(r.events) / r.took.Seconds() }

// perThousand returns the client's CPU seconds for 1,000 events.
func (r run) perThousand() float64 { return r.cpu.Seconds() / float64(r.events) * 1000 }

// measure returns how long do takes. First it clears the garbage of what ran before.
func measure(do func() error) (run, error) {
	runtime.GC()
	cpu, began := processorTime(), time.Now()
	err := do()
	return run{took: time.Since(began), cpu: processorTime() - cpu}, err
}

// series holds the runs of one way of doing it.
type series struct {
	name string
	runs []run
}

// spread returns the least, median and most of a figure over the runs.
func (s *series) spread(figure func(run) float64) (least, median, most float64) {
	values := make([]float64, len(s.runs))
	for i, r := range s.runs {
		values[i] = figure(r)
	}
	return sorted(values)
}

func sorted(values []float64) (least, median, most float64) {
	slices.Sort(values)
	n := len(values)
	return values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]
}

// ratio compares the runs of two series in pairs. The i-th runs of both ran next to each other, so
// other work of the machine affected both. It returns the median of the ratios.
func ratio(a, b *series, figure func(run) float64) float64 {
	values := make([]float64, len(a.runs))
	for i := range a.runs {
		values[i] = figure(a.runs[i]) / figure(b.runs[i])
	}
	_, median, _ := sorted(values)
	return median
}

// byTurns runs every way once, then every way again, and so on.
func byTurns(turns int, ways []*series, once func(way int) (run, error)) error {
	for range turns {
		for i, s := range ways {
			r, err := once(i)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.runs = append(s.runs, r)
		}
	}
	return nil
}

// table prints one line for each series. Figures that are counted must not differ between runs. For
// figures that are timed, it prints least, median and most.
func table(w io.Writer, what string, ways ...*series) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\t%s/s min\tmedian\tmax\tCPU s per 1,000 min\tmedian\trequests each\twrite units each\t\n", what)
	for _, s := range ways {
		slowest, rate, fastest := s.spread(run.rate)
		leastCPU, cpu, _ := s.spread(run.perThousand)
		_, requests, _ := s.spread(func(r run) float64 { return r.requests / float64(r.events) })
		_, units, _ := s.spread(func(r run) float64 { return r.units / float64(r.events) })
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.0f\t%.4f\t%.4f\t%.3f\t%.3f\t\n", s.name, slowest, rate, fastest, leastCPU, cpu, requests, units)
	}
	return t.Flush()
}
