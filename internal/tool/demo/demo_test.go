package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
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
			if err != nil {
				t.Fatal(err)
			}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if s.Same != s.OK() {
		t.Errorf("same is %v, and the checks say %v", s.Same, s.OK())
	}
	for name, c := range checks(s) {
		for _, d := range c.Differences {
			t.Errorf("seed %d, counting by %s: %s: %s", s.Seed, s.Counting, name, d)
		}
	}
	if t.Failed() {
		t.Logf("replay: go run ./cmd/ingot demo --seed %d --counting %s", s.Seed, s.Counting)
	}
}

func TestEarthquakes(t *testing.T) {
	s := mustRun(t, example(t, "earthquakes", seed, aggregate.Marks))
	agree(t, s)
	if s.Data.Events != 1707 || s.Kept.Items != 1707 || s.Expiry.Swept != 1707 || s.Expiry.Archived != 1707 {
		t.Errorf("%d events, %d items, %d swept, %d archived: want 1707 of each", s.Data.Events, s.Kept.Items, s.Expiry.Swept,
			s.Expiry.Archived)
	}
	if s.Data.From != "2018-01-31T01:49:59Z" || s.Data.To != "2018-02-07T01:26:13Z" {
		t.Errorf("from %s to %s", s.Data.From, s.Data.To)
	}
	for name, want := range map[string]int{"verify": 90, "tally": 90, "accounts": s.Deliveries.Sent, "keep": 78, "subtract": 12,
		"archive": 1707, "verify after expiry": 90} {
		if c, there := checks(s)[name]; !there || c.Compared != want {
			t.Errorf("check %q (there: %v) compared %d, want %d", name, there, c.Compared, want)
		}
	}
	// These facts of the data come from the README of the data's own source.
	if got := find(t, s, "network_day", "ci", "2018-02-04T00:00:00Z", "count").Stored; got != "73" {
		t.Errorf("ci counted %s earthquakes on 4 February, want 73", got)
	}
	if got := find(t, s, "network_recent", "nc", "", "count").Stored; got != "370" {
		t.Errorf("nc counted %s earthquakes, want 370", got)
	}
	if s.Cost.Events.WriteUnits < 1 || s.Cost.Events.WriteUnits > 2 || s.Cost.Totals.WriteUnits > 1 {
		t.Errorf("write units per event: %v storing, %v counting", s.Cost.Events.WriteUnits, s.Cost.Totals.WriteUnits)
	}
	troubleIsReal(t, s)
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

// troubleIsReal checks the run with the default seed. Every kind of trouble happens, the outcomes
// add up, and a plain ADD would have counted wrong.
func troubleIsReal(t *testing.T, s *Summary) {
	t.Helper()
	if len(s.Trouble) != int(kinds) {
		t.Errorf("%d kinds of trouble told, want %d", len(s.Trouble), kinds)
	}
	for _, one := range s.Trouble {
		if one.Injected == 0 && one.Kind != "payload-answer-lost" { // which needs offload: TestBundles
			t.Errorf("%s never happened", one.Kind)
		}
		sum := 0
		for _, n := range one.Verdicts {
			sum += n
		}
		if sum > 0 && sum != one.Touched {
			t.Errorf("%s: %d messages, and verdicts on %d: %v", one.Kind, one.Touched, sum, one.Verdicts)
		}
		switch one.Kind {
		case "altered":
			if one.Verdicts["Conflict"] != one.Injected {
				t.Errorf("altered: %d injected, %v", one.Injected, one.Verdicts)
			}
		case "malformed":
			if one.Verdicts["Poison"] != one.Injected {
				t.Errorf("malformed: %d injected, %v", one.Injected, one.Verdicts)
			}
		case "sent-twice", "ingest-answer-lost":
			if one.Verdicts["Duplicate"] == 0 {
				t.Errorf("%s: no Duplicate: %v", one.Kind, one.Verdicts)
			}
		}
	}
	judged := s.Deliveries.Unjudged
	for _, n := range s.Deliveries.Verdicts {
		judged += n
	}
	if judged != s.Deliveries.Received {
		t.Errorf("%d deliveries, %d accounted for", s.Deliveries.Received, judged)
	}
	if s.Kept.Unheard == 0 || s.Deliveries.Verdicts["Inserted"]+s.Kept.Unheard != s.Kept.Items {
		t.Errorf("%d items: %d Inserted and %d stored unheard", s.Kept.Items, s.Deliveries.Verdicts["Inserted"], s.Kept.Unheard)
	}
	if s.Changes.Dropped == 0 || s.Changes.Repeated == 0 {
		t.Errorf("no change came twice: %+v", s.Changes)
	}
	wrong := [2]int{}
	for _, total := range s.Totals {
		for _, v := range total.Values {
			if v.PerMessage != v.Stored {
				wrong[0]++
			}
			if v.PerChange != v.Stored {
				wrong[1]++
			}
		}
	}
	if wrong[0] < len(s.Totals)/2 || wrong[1] < len(s.Totals)/2 {
		t.Errorf("of %d totals plain ADDs got %v wrong: too few to show anything", len(s.Totals), wrong)
	}
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

// TestSameSeedSameSummary shows that the same seed gives the same summary to the byte, as text and
// as JSON.
func TestSameSeedSameSummary(t *testing.T) {
	configs := map[string]func() Config{
		"earthquakes": func() Config { return firstDays(t, aggregate.Marks) },
		"receipts":    func() Config { return firstDays(t, aggregate.Receipts) },
		"orders":      func() Config { return example(t, "shop", 3, aggregate.Marks) },
		"copies":      func() Config { c := firstDays(t, aggregate.Marks); c.Repeat = 2; return c },
	}
	var earthquakes *Summary
	for name, config := range configs {
		if testing.Short() && name != "receipts" || (name == "copies" || name == "orders") && !slow.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var texts, jsons [2]bytes.Buffer
			for i := range 2 {
				s := mustRun(t, config())
				if err := s.Text(&texts[i], -1); err != nil {
					t.Fatal(err)
				}
				if err := json.NewEncoder(&jsons[i]).Encode(s); err != nil {
					t.Fatal(err)
				}
				if name == "earthquakes" {
					earthquakes = s
				}
			}
			if texts[0].String() != texts[1].String() {
				t.Error("the same seed gave two texts")
			}
			if jsons[0].String() != jsons[1].String() {
				t.Error("the same seed gave two JSON summaries")
			}
		})
	}
	if earthquakes == nil {
		return // -short, or another test of these was asked for
	}
	other := firstDays(t, aggregate.Marks)
	other.Seed++
	if a, b := earthquakes, mustRun(t, other); a.Deliveries.Received == b.Deliveries.Received && a.Changes == b.Changes {
		t.Error("two seeds gave the same deliveries")
	}
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
		want []string
	}{
		"not JSON": {lines("f.ndjson", good, `{"id":`),
			[]string{"f.ndjson:2: Poison (undecodable)", "correct that line: an event is one JSON object on a line of its own"}},
		"no id":     {lines("f.ndjson", `{"properties":{"time":1,"net":"uw"}}`), []string{"f.ndjson:1:", "missing-field"}},
		"no line":   {lines("f.ndjson"), []string{"f.ndjson: there is no event in it"}},
		"long ago":  {lines("f.ndjson", good, good, old), []string{"f.ndjson:3:", "sort the lines by time"}},
		"no file":   {File("nowhere.ndjson", "nowhere.ndjson", nil), []string{"nowhere.ndjson: no such file"}},
		"directory": {File(folder, folder, nil), []string{"read " + folder + ": is a directory"}},
		"huge line": {lineOf(t, strings.Repeat("x", ndjson.MaxLine+1)), []string{":1: it has more than 2097152 bytes"}},
		"big for it": {lines("f.ndjson", `{"id":"q1","x":"`+strings.Repeat("x", 420_000)+
			`","properties":{"time":1517363399650,"net":"uw","mag":1}}`), []string{"f.ndjson:1:", "item-too-large"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := example(t, "earthquakes", seed, aggregate.Marks)
			c.Data = test.data
			_, err := Run(context.Background(), c)
			if err == nil {
				t.Fatal("it ran")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q says nothing of %q", err, want)
				}
			}
			if name == "directory" && strings.Contains(err.Error(), "correct that line") {
				t.Errorf("%q blames a line", err)
			}
		})
	}
}

func lineOf(t *testing.T, text string) Data {
	t.Helper()
	name := t.TempDir() + "/f.ndjson"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
		c.About != "not compared: the producer's 2 lines make 1 item, so some lines repeat the event of an earlier one" {
		t.Errorf("list: %+v", c)
	}
	if s.Kept.Items != 1 || s.Data.Events != 2 || len(s.Totals) != 2 {
		t.Errorf("%d items of %d lines in %d totals", s.Kept.Items, s.Data.Events, len(s.Totals))
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
