package dev

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/store"
)

// change writes another pipeline.yaml, and returns what became of it.
func change(t *testing.T, d *Dev, text string) *Reloaded {
	t.Helper()
	before := d.Steps().Last()
	// As editors do it, so that no reader sees half of the file.
	must.Write(t, d.cfg.File+".new", text)
	must.Succeed(t, os.Rename(d.cfg.File+".new", d.cfg.File))
	var deployed *Reloaded
	d.Reload(t.Context()) // if the file is being watched, this waits for that, and finds nothing more
	until(t, d, func(s Step) bool {
		if s.Reloaded != nil && s.Number > before {
			deployed = s.Reloaded
		}
		return deployed != nil
	})
	return deployed
}

func TestChangedPipelineIsDeployed(t *testing.T) {
	d := start(t, Config{File: folder(t, orders), Data: t.TempDir()})
	text := strings.Replace(orders, `sk: "PLACED"}`, `sk: "PLACED"}
    indexes: {GSI1: {pk: "MERCHANT#{merchant_id}", sk: "{@at | time}#{order_id}"}}`, 1)
	if got := change(t, d, text); !got.Took || len(got.Objects) > 0 {
		t.Fatalf("a new index: %+v", got)
	}
	if got := d.Pipeline().Indexes(); len(got) != 1 {
		t.Errorf("the functions run with the indexes %v", got)
	}
	send(t, d, order(1, 100))
	until(t, d, func(s Step) bool {
		return s.Message != nil && s.Message.Verdict == event.Inserted && len(s.Message.Item.Indexes) == 1
	})
}

func TestChangedPipelineThatIsRefused(t *testing.T) {
	var told []string
	d := start(t, Config{File: folder(t, orders), Tell: func(line string) { told = append(told, line) }})
	for _, c := range []struct{ name, text, want string }{
		{"broken", strings.Replace(orders, "window: 1d", "window: 1fortnight", 1), "1fortnight"},
		{"no YAML", "events: [", "pipeline.yaml:1"},
		{"empty", "", "pipeline.yaml"},
		{"another key", strings.Replace(orders, `"ORDER#{order_id}"`, `"ORDERS#{order_id}"`, 1), "drain the queue"},
		{"another total of the same epoch", strings.Replace(orders, "window: 1d", "window: 1h", 1), "epoch"},
	} {
		before := d.Pipeline()
		got := change(t, d, c.text)
		if got.Took || !strings.Contains(strings.Join(got.Objects, "\n"), c.want) {
			t.Errorf("%s: %+v; want an objection with %q", c.name, got, c.want)
		}
		must.Equal(t, d.Pipeline(), before)
	}
	if got := change(t, d, orders); !got.Took {
		t.Errorf("the file of before: %+v", got)
	}
	must.Say(t, strings.Join(told, "\n"), "but the functions still use the previous file:\n  ")
}

// A schema is a part of the file that names it. A changed schema is a changed pipeline, and what is
// kept knows the schema that it was kept with.
func TestChangedSchemaIsDeployed(t *testing.T) {
	text := strings.Replace(orders, `sk: "PLACED"}`, `sk: "PLACED"}
    schema: schemas/order.json`, 1)
	cfg := Config{File: folder(t, text), Data: t.TempDir()}
	schema := filepath.Join(filepath.Dir(cfg.File), "schemas", "order.json")
	must.Succeed(t, os.Mkdir(filepath.Dir(schema), 0o700))
	write := func(text string) {
		t.Helper()
		must.Write(t, schema, text)
	}
	write(`{"required": ["order_id"]}`)
	d := start(t, cfg)
	becomes := func(n int, verdict event.Verdict) {
		t.Helper()
		send(t, d, order(n, 100))
		until(t, d, func(s Step) bool { return s.Message != nil && s.Message.Verdict == verdict })
	}
	becomes(1, event.Inserted)
	before := d.Steps().Last()
	write(`{"required": ["order_id", "colour"]}`)
	until(t, d, func(s Step) bool { return s.Reloaded != nil && s.Number > before && s.Reloaded.Took }) // it watches the folder
	becomes(2, event.Poison)
	write(`{"required": "colour"}`)
	until(t, d, func(s Step) bool {
		return s.Reloaded != nil && !s.Reloaded.Took && strings.Contains(strings.Join(s.Reloaded.Objects, ""), "#/required")
	})
	f, err := store.DeployedFile(t.Context(), d.engine.DynamoDB(), stack.Aggregates)
	if err != nil || f == nil || !strings.Contains(string(f.Text), `schema: '{"required":["order_id","colour"]}'`) {
		t.Errorf("the deployed file is %+v, %v", f, err)
	}
}

// TestAnotherPipelineOnKeptData starts with a file that does not go with what is stored.
func TestAnotherPipelineOnKeptData(t *testing.T) {
	cfg := Config{File: folder(t, orders), Data: t.TempDir()}
	d, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	must.Succeed(t, d.Close())
	must.Write(t, cfg.File, strings.Replace(orders, `"ORDER#{order_id}"`, `"ORDERS#{order_id}"`, 1))
	_, err = Start(t.Context(), cfg)
	must.Fail(t, err, "change the file, or name another folder with --data")
}

// TestClockDoesNotJump lets the machine's calendar jump, while seconds pass as always.
func TestClockDoesNotJump(t *testing.T) {
	at := must.Time("2026-03-01T09:00:00Z")
	wall, passed := at, time.Duration(0)
	c := newClock(func() time.Time { return wall }, func() time.Duration { return passed }, at.Add(-72*time.Hour))
	is := func(what string, want time.Time) {
		t.Helper()
		if got := c.Now(); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	passed = time.Minute
	is("what is kept is three days old, and is processed first", at.Add(time.Minute-72*time.Hour))
	must.Equal(t, c.follow(), 0)
	is("nothing is under way", at)
	wall = at.Add(-time.Hour)
	c.follow()
	is("the calendar went back", at)
	wall = at.Add(20 * time.Hour)
	is("the machine slept, and something is under way", at)
	c.follow()
	is("nothing is under way any more", wall)
	slept := wall
	wall = at.AddDate(1, 0, 0)
	if tooFar := c.follow(); tooFar <= 0 {
		t.Errorf("a year ahead: %v", tooFar)
	}
	passed = 2 * time.Minute
	is("a year is not followed", slept.Add(time.Minute))
}

// TestClockDoesNotBeginAhead lets time pass while the clock is made and while it follows the
// calendar.
func TestClockDoesNotBeginAhead(t *testing.T) {
	at, passed := must.Time("2026-03-01T09:00:00Z"), time.Duration(0)
	tick := func() time.Duration { passed += time.Second; return passed }
	c := newClock(func() time.Time { return at.Add(tick()) }, tick, time.Time{})
	for range 3 {
		if got, now := c.Now(), at.Add(passed); got.After(now) {
			t.Errorf("the clock is %v ahead of the calendar", got.Sub(now))
		}
		c.follow()
	}
}

// TestCalendarThatJumpsWhileDevRuns lets the machine's calendar jump far ahead and back again.
// Events are stored and counted all the while, nothing expires, and it is said once.
func TestCalendarThatJumpsWhileDevRuns(t *testing.T) {
	var ahead atomic.Int64
	today := time.Now().UTC().Format(time.RFC3339) // or the events would have expired
	told := make(chan string, 100)
	d := start(t, Config{File: folder(t, strings.Replace(orders, `"PLACED"}`, `"PLACED"}
    retain: 30d`, 1)), Tell: func(line string) { told <- line },
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	_, tables := clients(t, d)
	count := func(n int) {
		t.Helper()
		before := d.Steps().Last()
		send(t, d, strings.Replace(order(n, 100), "2026-03-01T09:00:00Z", today, 1))
		until(t, d, func(s Step) bool { return s.Number > before && s.Streams != nil && s.Streams.Inserted == 1 })
	}
	count(1)
	ahead.Store(int64(400 * 24 * time.Hour))
	select {
	case line := <-told:
		must.Equal(t, line, "the clock of this machine jumped ahead by 9600h0m0s: ingot dev goes on by its own; end it and start it "+
			"again if the new time is right")
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was told")
	}
	count(2)
	must.Equal(t, d.Engine().Sweep(100), 0)
	ahead.Store(int64(-400 * 24 * time.Hour))
	count(3)
	if off := time.Since(d.Now()).Abs(); off > time.Minute {
		t.Errorf("its clock is off by %v", off)
	}
	proven(t, d, 3, 1)
	must.Equal(t, scanned(t, tables, d.Local().EventsTable), 3)
	for len(told) > 0 {
		t.Errorf("told was also %q", <-told)
	}
}
