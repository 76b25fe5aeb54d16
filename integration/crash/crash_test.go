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
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/verify"
)

var kills = flag.Int("kills", 0, "how many processes are killed, in both ways of counting together; 0: 30, or with INGOT_TEST_ALL=1 300, "+
	"and 60 on LocalStack, which takes its time")

// TestKilled shows that each event is stored once and counted once, whatever is killed and
// whenever. What cannot be stored is in quarantine.
func TestKilled(t *testing.T) {
	e := open(t)
	// INGOT_SEED sends the same events again and plans the same kills.
	seed := replay.Seeds(t, 0, 1)[0]
	switch {
	case *kills == 0 && e.Name == "localstack":
		*kills = 60
	case *kills == 0 && !slow.All():
		*kills = 30
	case *kills == 0:
		*kills = 300
	}
	t.Logf("%s at %s; replay: INGOT_SEED=%d go test ./integration/crash -kills %d (the same events and plans to kill; the moments also "+
		"depend on the machine)", e.Name, e.URL, seed, *kills)
	binaries := build(t)
	t.Run("marks", func(t *testing.T) { newWorld(t, e, binaries, aggregate.Marks, seed).run(*kills * 2 / 3) })
	t.Run("receipts", func(t *testing.T) { newWorld(t, e, binaries, aggregate.Receipts, seed).run(*kills / 3) })
}

// build compiles both functions as they are deployed.
func build(t *testing.T) map[string]string {
	t.Helper()
	dir, binaries := t.TempDir(), map[string]string{}
	for _, name := range []string{"ingest", "streams"} {
		binaries[name] = filepath.Join(dir, name)
		must.Succeed(t, runtimeapi.Build(t.Context(), "github.com/ingot-events/ingot/cmd/"+name, binaries[name], ""))
	}
	return binaries
}

// run lets events flow until enough processes were killed. Then it lets everything be processed,
// and checks.
func (w *world) run(kills int) {
	p := newProducer(w.seed)
	ctx, stop := context.WithCancel(w.Context())
	var pump sync.WaitGroup
	pump.Go(func() { w.pump(ctx, kills/2) })
	bursts := 0
	for ; !w.ingest.killed(kills/2) || bursts < 3; bursts++ {
		if bursts > mostAgain*kills {
			w.Fatalf("in %d bursts too few were killed (%s): this has shown nothing", bursts, w.ingest)
		}
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
	w.Logf("%d bursts, %d sales, %d stocks; ingest: %s; streams: %s, %d steps dropped as counted", bursts, len(p.sales), len(p.parcel),
		w.ingest, w.streams, w.dropped())
	w.check(p)
}

// drainQueue delivers until the queue is empty. Messages of a killed batch come back at once by the
// clock of the queue.
func (w *world) drainQueue() {
	w.Helper()
	for {
		polled, err := w.queue.Poll(w.Context())
		must.Succeed(w, err)
		select {
		case w.moved <- struct{}{}:
		default:
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

// pump delivers changes while events flow. Now and then the mapping goes back to an earlier place.
func (w *world) pump(ctx context.Context, kills int) {
	die := source(w.seed, forCheckpoints)
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
			select {
			case <-w.moved: // there may be changes now
			case <-ctx.Done():
			}
		case roll < 0.03:
			w.stream.Restore(stale)
		case roll < 0.10:
			stale = w.stream.Checkpoint()
		}
	}
}

// patience is how long a change may take from the table to the stream.
const patience = 10 * time.Second

// mostAgain is how often everything is delivered again, and how many bursts are sent for each
// process to kill.
const mostAgain = 200

// drainStream delivers what is left. If too few processes have been killed by then, or no change
// has come again, it delivers everything again until that is so.
func (w *world) drainStream(kills int) {
	w.Helper()
	beginning := w.stream.Checkpoint()
	beginning.Shards = nil
	again := 0
	for deadline := time.Now().Add(patience); ; {
		w.streams.spared = w.streams.killed(kills)
		polled, err := w.stream.Poll(w.Context())
		must.Succeed(w, err)
		if !polled.Idle() {
			deadline = time.Now().Add(patience)
			continue
		}
		if !w.streams.killed(kills) || w.dropped() == 0 {
			if again++; again > mostAgain {
				w.Fatalf("after %d deliveries of everything nothing was killed in the middle of its work, or nothing was dropped as "+
					"counted: this has shown nothing", again)
			}
			w.stream.Restore(beginning)
			continue
		}
		if w.verify().OK() || time.Now().After(deadline) {
			return
		}
	}
}

// dropped is how many steps came again after they were counted.
func (w *world) dropped() int { return w.streams.said.sum("StepsDroppedByMark") }

func (w *world) verify() *verify.Report {
	w.Helper()
	report, err := verify.Totals(w.Context(), w.plan, w.store, time.Now())
	must.Succeed(w, err)
	return report
}

// check compares tables and quarantine with the records of the producer.
func (w *world) check(p *producer) {
	w.Helper()
	report := w.verify()
	for _, d := range report.Differences {
		w.Errorf("verify: %s", d)
	}
	for _, text := range slices.Concat(report.Flagged, report.Unreadable) {
		w.Errorf("verify: %s", text)
	}
	stored := map[string]string{}
	for item, err := range w.store.Items(w.Context()) {
		must.Succeed(w, err)
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

// sums returns the stored totals by the producer's names, with their buckets added up. It leaves
// out totals that are 0.
func (w *world) sums() map[string]string {
	w.Helper()
	numbers := map[string]event.Decimal{}
	for total, err := range w.store.Totals(w.Context()) {
		must.Succeed(w, err)
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
