package crash

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/runtimeapi"
	"github.com/ingot-events/ingot/verify"
)

var (
	kills = flag.Int("kills", 300, "how many processes are killed, in both ways of counting together")
	seed  = flag.Uint64("seed", 0, "of events and kills; 0: another one each time")
)

// TestKilled: whatever is killed and whenever, each event is stored once and counted once, and what cannot be
// stored is in quarantine.
func TestKilled(t *testing.T) {
	e := open(t)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%s at %s; to send the same events and plan the same kills: go test ./integration/crash -seed %d (the moments also depend on the machine)", e.Name, e.URL, *seed)
	binaries := build(t)
	t.Run("marks", func(t *testing.T) { run(t, newWorld(t, e, binaries, aggregate.Marks, *seed), *kills*2/3) })
	t.Run("receipts", func(t *testing.T) { run(t, newWorld(t, e, binaries, aggregate.Receipts, *seed), *kills/3) })
}

// build compiles both functions as they are deployed.
func build(t *testing.T) map[string]string {
	t.Helper()
	dir, binaries := t.TempDir(), map[string]string{}
	for _, name := range []string{"ingest", "streams"} {
		binaries[name] = filepath.Join(dir, name)
		if err := runtimeapi.Build(t.Context(), "github.com/ingot-events/ingot/cmd/"+name, binaries[name], ""); err != nil {
			t.Fatal(err)
		}
	}
	return binaries
}

// run lets events flow until enough processes were killed, lets all of it be worked off, and looks.
func run(t *testing.T, w *world, kills int) {
	p := newProducer(*seed)
	ctx, stop := context.WithCancel(t.Context())
	var pump sync.WaitGroup
	pump.Go(func() { w.pump(ctx, kills/2) })
	bursts := 0
	for ; w.ingest.total() < kills/2 || bursts < 3; bursts++ {
		w.send(p.burst())
		w.drainQueue()
		if bursts%4 == 3 {
			w.remove(p.remove())
		}
	}
	w.ingest.spared = true
	w.drainQueue()
	stop()
	pump.Wait()
	w.drainStream(kills / 2)
	dropped := w.streams.said.sum("StepsDroppedByMark")
	t.Logf("%d bursts, %d sales, %d stocks; ingest: %s; streams: %s, %d steps dropped as counted", bursts, len(p.sales), len(p.parcel), w.ingest, w.streams, dropped)
	if w.ingest.kills.working == 0 || w.streams.kills.working == 0 || dropped == 0 {
		t.Error("nothing was killed in the middle of its work, or nothing came again: this has shown nothing")
	}
	w.check(p)
}

// drainQueue delivers until the queue is empty. Messages of a killed batch come back at once, by the queue's
// clock.
func (w *world) drainQueue() {
	w.Helper()
	for {
		polled, err := w.queue.Poll(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if !polled.Idle() {
			continue
		}
		if polled.Held == 0 && w.depth() == 0 {
			return
		}
		w.offset.Add(int64(visibility))
	}
}

// pump delivers changes while events flow. Now and then the mapping goes back to where it stood a while ago.
func (w *world) pump(ctx context.Context, kills int) {
	die := source(*seed, forCheckpoints)
	stale := w.stream.Checkpoint()
	for ctx.Err() == nil {
		w.streams.spared = w.streams.total() >= kills
		polled, err := w.stream.Poll(w.Context())
		if err != nil {
			w.Error(err)
			return
		}
		switch roll := die.Float64(); {
		case polled.Idle():
			time.Sleep(time.Millisecond) // as a poller waits between reads of an empty shard
		case roll < 0.03:
			w.stream.Restore(stale)
		case roll < 0.10:
			stale = w.stream.Checkpoint()
		}
	}
}

// drainStream delivers what is left. If too few processes have been killed by then, everything is delivered
// again until there have been enough.
func (w *world) drainStream(kills int) {
	w.Helper()
	beginning := w.stream.Checkpoint()
	beginning.Shards = nil
	for {
		w.streams.spared = w.streams.total() >= kills
		polled, err := w.stream.Poll(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if !polled.Idle() {
			continue
		}
		if w.streams.total() >= kills {
			return
		}
		w.stream.Restore(beginning)
	}
}

// check compares tables and quarantine with the producer's book.
func (w *world) check(p *producer) {
	w.Helper()
	report, err := verify.Totals(w.Context(), w.plan, w.store, time.Now())
	if err != nil {
		w.Fatal(err)
	}
	for _, d := range report.Differences {
		w.Errorf("verify: %s", d)
	}
	for _, text := range slices.Concat(report.Flagged, report.Odd) {
		w.Errorf("verify: %s", text)
	}
	stored := map[string]string{}
	for item, err := range w.store.Items(w.Context()) {
		if err != nil {
			w.Fatal(err)
		}
		stored[item.ID] = item.Data
	}
	want := map[string]string{}
	for id, s := range p.sales {
		want[id] = saleBody(id, s)
	}
	for id, s := range p.parcel {
		want[id] = stockBody(id, s)
	}
	if !maps.Equal(stored, want) {
		w.differ("item", stored, want)
	}
	sums := map[string]string{}
	for name, n := range p.totals() {
		sums[name] = fmt.Sprint(n)
	}
	if got := w.sums(); !maps.Equal(got, sums) {
		w.differ("total", got, sums)
	}
	letters := w.letters()
	for body := range p.refuse {
		if letters[body] == 0 {
			w.Errorf("in neither table nor quarantine: %s", body)
		}
		delete(letters, body)
	}
	for body := range letters {
		w.Errorf("in quarantine without cause: %s", body)
	}
}

// sums are the stored totals, their buckets together, in the producer's names; those that are 0 are left out.
func (w *world) sums() map[string]string {
	w.Helper()
	numbers := map[string]event.Decimal{}
	for total, err := range w.store.Totals(w.Context()) {
		if err != nil {
			w.Fatal(err)
		}
		name := total.Address.Name
		for _, by := range total.Address.By {
			name += " " + by
		}
		for value, n := range total.Values {
			numbers[name+" "+value] = numbers[name+" "+value].Add(n)
		}
	}
	sums := map[string]string{}
	for name, n := range numbers {
		if !n.IsZero() {
			sums[name] = n.String()
		}
	}
	return sums
}

func (w *world) differ(what string, got, want map[string]string) {
	w.Helper()
	for name, text := range want {
		if got[name] != text {
			w.Errorf("%s %s is %q, and was sent as %q", what, name, got[name], text)
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			w.Errorf("%s %s is %q, and there is no such thing", what, name, text)
		}
	}
}
