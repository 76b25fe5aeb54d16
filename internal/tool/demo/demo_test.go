package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// seed is the seed that ingot demo uses by default.
const seed = 7

// example returns a run of bundled data.
func example(t testing.TB, name string, seed uint64, counting aggregate.Counting) Config {
	t.Helper()
	for _, b := range Bundles() {
		if b.Name == name {
			p, err := pipeline.Load(b.Files, b.File, pipeline.Secret([]byte(b.Secret)))
			must.Succeed(t, err)
			return Config{Data: b.Data, Plan: p, Seed: seed, Counting: counting}
		}
	}
	t.Fatalf("there is no example %s", name)
	return Config{}
}

// firstDays returns the earthquakes until 2 February. They are enough for trouble, and do not take
// long.
func firstDays(t testing.TB, counting aggregate.Counting) Config {
	t.Helper()
	c := example(t, "earthquakes", seed, counting)
	all := c.Data.Lines
	c.Data.Lines = func() iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			for line, err := range all() {
				if line.Number > 300 || !yield(line, err) {
					return
				}
			}
		}
	}
	return c
}

func mustRun(t testing.TB, c Config) *Summary {
	t.Helper()
	s, err := Run(context.Background(), c)
	must.Succeed(t, err)
	return s
}

// checks returns all checks of a summary by name. The second verify has the name "verify after
// expiry".
func checks(s *Summary) map[string]Check {
	all := map[string]Check{}
	for _, c := range s.Checks {
		all[c.Name] = c
	}
	if s.Expiry != nil {
		for _, c := range s.Expiry.Checks {
			if c.Name == "verify" {
				c.Name = "verify after expiry"
			}
			all[c.Name] = c
		}
	}
	return all
}

// agree reports every difference that a run found.
func agree(t *testing.T, s *Summary) {
	t.Helper()
	must.Equal(t, s.Same, s.OK())
	for name, c := range checks(s) {
		for _, d := range c.Differences {
			t.Errorf("seed %d, counting by %s: %s: %s", s.Seed, s.Counting, name, d)
		}
	}
	if t.Failed() {
		t.Logf("replay: go run ./cmd/ingot demo --seed %d --counting %s", s.Seed, s.Counting)
	}
}

func find(t *testing.T, s *Summary, name, by, window, value string) TotalValue {
	t.Helper()
	for _, total := range s.Totals {
		if total.Aggregate != name || total.Window != window || total.By[0].Text != by {
			continue
		}
		for _, v := range total.Values {
			if v.Name == value {
				return v
			}
		}
	}
	t.Fatalf("no total %s of %s at %q by %s", value, name, window, by)
	return TotalValue{}
}

func TestOrders(t *testing.T) {
	s := mustRun(t, example(t, "shop", seed, aggregate.Receipts))
	agree(t, s)
	if s.Kept.Items != s.Data.Events || s.Data.Events < 1000 {
		t.Errorf("%d events, %d items", s.Data.Events, s.Kept.Items)
	}
}

// TestBundles sends all data that comes with the demo through its pipeline. The demo's own and the
// shop's have tests of their own, and a tally.
func TestBundles(t *testing.T) {
	for _, b := range Bundles()[2:] {
		if b.Name == "ledger" && !slow.All() {
			continue // TestLedger sends the same data
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s := mustRun(t, example(t, b.Name, seed, aggregate.Marks))
			agree(t, s)
			all := checks(s)
			// One message of the feed in some makes two items, and one of the ledger three.
			if n := len(s.Totals); s.Data.Events < 1000 || s.Kept.Items != s.Data.Events && b.Name != "feed" && b.Name != "ledger" ||
				s.Kept.Items < s.Data.Events || all["verify"].Compared != n || all["list"].Compared != n || n < 100 {
				t.Errorf("%d events, %d items, %d totals; compared: %+v", s.Data.Events, s.Kept.Items, n, all)
			}
			if b.Name == "feed" && (all["payloads"].Compared != posts/10 || s.Trouble[payloadAnswerLost].Injected == 0) {
				t.Errorf("payloads: %+v, %+v", all["payloads"], s.Trouble[payloadAnswerLost])
			}
			if arrays := s.Deliveries.Arrays; (arrays > 100) != (b.Name == "sensors") || arrays > 0 && s.Deliveries.Sent+
				3*arrays > s.Data.Events {
				t.Errorf("%d of %d messages are arrays of %d events", arrays, s.Deliveries.Sent, s.Data.Events)
			}
			conflicts := s.Deliveries.Verdicts[event.Conflict.String()]
			if conflicts == 0 || b.Kind != "synthetic" || !strings.Contains(s.Data.About, "SYNTHETIC") {
				t.Errorf("%d conflicts; %s: %s", conflicts, b.Kind, s.Data.About)
			}
		})
	}
}

// TestSeeds shows that other seeds make other trouble, which adds up too.
func TestSeeds(t *testing.T) {
	first, seeds := uint64(time.Now().UnixNano()%1_000_000), uint64(1)
	if slow.All() {
		seeds = 4
	}
	for i := range seeds {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			c := firstDays(t, counting)
			c.Seed = first + i
			t.Run(fmt.Sprintf("%s/%d", counting, c.Seed), func(t *testing.T) { t.Parallel(); agree(t, mustRun(t, c)) })
		}
	}
}

// TestAnotherSeedIsAnotherRun shows that a seed decides about the deliveries. That the same seed
// gives the same bytes is held by the transcripts of cmd/ingot.
func TestAnotherSeedIsAnotherRun(t *testing.T) {
	other := firstDays(t, aggregate.Marks)
	other.Seed++
	if a, b := mustRun(t, firstDays(t, aggregate.Marks)), mustRun(t, other); a.Deliveries.Received == b.Deliveries.Received &&
		a.Changes == b.Changes {
		t.Error("two seeds gave the same deliveries")
	}
}

// many returns a run of n events.
func many(t *testing.T, text, name string, n int, body func(i int) string) Config {
	t.Helper()
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = body(i)
	}
	return Config{Plan: written.Pipeline(t, text), Seed: seed, Counting: aggregate.Marks, Data: lines(name, bodies...)}
}

// lines returns data that is in memory.
func lines(name string, bodies ...string) Data {
	return Data{Name: name, Lines: func() iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			for i, body := range bodies {
				if !yield(Line{i + 1, envelope.Message{Body: body}}, nil) {
					return
				}
			}
		}
	}}
}

func TestLinesThatAreNoEvents(t *testing.T) {
	folder := t.TempDir()
	good := `{"id":"q1","properties":{"time":1517363399650,"net":"uw","mag":1}}`
	old := `{"id":"q0","properties":{"time":1417363399650,"net":"uw","mag":1}}`
	for name, test := range map[string]struct {
		data Data
		want string
	}{
		"not JSON":  {lines("f.ndjson", good, `{"id":`), "; correct that line: an event is one JSON object on a line of its own"},
		"long ago":  {lines("f.ndjson", good, good, old), "f.ndjson:3: "},
		"unsorted":  {lines("f.ndjson", good, good, old), "sort the lines by time"},
		"no file":   {File("nowhere.ndjson", "nowhere.ndjson", nil), "nowhere.ndjson: no such file"},
		"directory": {File(folder, folder, nil), "read " + folder + ": is a directory"},
		"big for it": {lines("f.ndjson", `{"id":"q1","x":"`+strings.Repeat("x", 420_000)+
			`","properties":{"time":1517363399650,"net":"uw","mag":1}}`), "f.ndjson:1: Poison (item-too-large)"},
	} {
		c := example(t, "earthquakes", seed, aggregate.Marks)
		c.Data = test.data
		if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), test.want) ||
			name == "directory" && strings.Contains(err.Error(), "correct that line") {
			t.Errorf("%s: %v says nothing of %q", name, err, test.want)
		}
	}
}

func lineOf(t *testing.T, text string) Data {
	t.Helper()
	name := t.TempDir() + "/f.ndjson"
	must.Write(t, name, text)
	return File(name, name, nil)
}

// TestFewEvents shows that one line, a repeated line and blank lines cause no trouble by
// themselves.
func TestFewEvents(t *testing.T) {
	one := `{"id":"q1","properties":{"time":1517363399650,"net":"uw","mag":1}}`
	c := example(t, "earthquakes", seed, aggregate.Marks)
	c.Data = lineOf(t, "\n"+one+"\r\n\n"+one+"\n")
	s := mustRun(t, c)
	agree(t, s)
	if c := checks(s)["list"]; c.Compared != 0 ||
		c.About != "not compared: the producer's 2 lines make 1 item, so some lines have the key of an earlier one" {
		t.Errorf("list: %+v", c)
	}
	if s.Kept.Items != 1 || s.Data.Events != 2 || len(s.Totals) != 2 {
		t.Errorf("%d items of %d lines in %d totals", s.Kept.Items, s.Data.Events, len(s.Totals))
	}
}

// TestLinesWithOneKey shows that different events under one key are a difference, however few they
// are, and that the same event twice is none.
func TestLinesWithOneKey(t *testing.T) {
	line := func(id, mag string) string {
		return `{"id":"` + id + `","properties":{"time":1517363399650,"net":"uw","mag":` + mag + "}}\n"
	}
	c := example(t, "earthquakes", seed, aggregate.Marks)
	c.Data = lineOf(t, line("a", "1")+line("b", "1")+line("a", "1")+line("b", "2")+line("a", "3")+line("b", "2"))
	s := mustRun(t, c)
	found := checks(s)["keys"].Differences
	if s.Same || len(found) != 1 || !strings.HasPrefix(found[0], "3 lines: the first two with one key are lines 2 and 4;") {
		t.Errorf("same %v: %q", s.Same, found)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := example(t, "earthquakes", seed, aggregate.Marks)
	c.Progress = func(s show.Step) {
		if s.Done >= 500 {
			cancel()
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
