package events_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/testclock"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// TestVerdicts works out every verdict again, with a map instead of a table.
func TestVerdicts(t *testing.T) {
	p := load(t)
	for _, now := range []time.Time{testclock.Now(t), must.Time("2026-11-01T00:00:00Z"),
		must.Time("2028-11-01T00:00:00Z")} {
		tables := map[string]map[event.Key]*event.Item{} // by file, as it is after the file
		for _, s := range ingestSamples() {
			table := map[event.Key]*event.Item{}
			for _, earlier := range s.after {
				maps.Copy(table, tables[earlier])
			}
			items := planned(t, p, &s)
			newest := highest(items)
			for i := range s.messages {
				if item := items[i]; item != nil {
					must.Equal(t, verdict(table, newest, item, now), s.messages[i].verdict, s.file, now.Format(time.DateOnly), i)
				}
			}
			tables[s.file] = table
		}
	}
}

// highest returns the newest revision of each key in one batch.
func highest(items map[int]*event.Item) map[event.Key]*event.Item {
	newest := map[event.Key]*event.Item{}
	for _, item := range items {
		if item.Revision != nil && (newest[item.Key] == nil || item.Revision.Cmp(*newest[item.Key].Revision) > 0) {
			newest[item.Key] = item
		}
	}
	return newest
}

func verdict(table, newest map[event.Key]*event.Item, item *event.Item, now time.Time) event.Verdict {
	have := table[item.Key]
	if n := newest[item.Key]; n != nil && n != item {
		return event.Stale
	}
	switch {
	case have == nil && item.ExpiresAt != 0 && now.Unix() >= item.ExpiresAt-3600:
		return event.Expired
	case have == nil:
		table[item.Key] = item
		return event.Inserted
	case have.Digest == item.Digest:
		return event.Duplicate
	}
	return event.Conflict
}

// TestRecords reads every stream record back. The streams function must see what the pipeline
// planned.
func TestRecords(t *testing.T) {
	p := load(t)
	for _, s := range streamSamples() {
		e := s.event(t, p)
		var last event.Sequence
		for i, r := range s.records {
			change, err := readRecord(t, e.Records[i], s.shard)
			must.Equal(t, err != nil, r.outcome == quarantined, s.file, i, err)
			if change.Sequence.Compare(last) <= 0 {
				t.Errorf("%s: record %d does not ascend", s.file, i)
			}
			last = change.Sequence
			if change.Kind != r.kind || change.Expired != r.ttl || change.Lane.ShardID != s.shard || change.Lane.StreamARN == "" {
				t.Errorf("%s: record %d is read as %+v", s.file, i, change)
			}
			if r.outcome == quarantined {
				continue
			}
			sameItem(t, s.file, i, p, r.old, change.Old)
			sameItem(t, s.file, i, p, r.new, change.New)
		}
	}
}

func readRecord(t *testing.T, record any, shard string) (event.Change, error) {
	t.Helper()
	raw, err := json.Marshal(record)
	must.Succeed(t, err)
	doc, err := event.ParseDocument(string(raw))
	must.Succeed(t, err)
	return store.ReadRecord(doc.Root(), shard)
}

func sameItem(t *testing.T, file string, i int, p *pipeline.Pipeline, pic *picture, got *event.Item) {
	t.Helper()
	if pic == nil || pic.alter != nil {
		if pic == nil && got != nil {
			t.Errorf("%s: record %d has an image too many", file, i)
		}
		return
	}
	m := message{body: pic.body}
	want, err := p.Plan(m.envelope())
	must.Succeed(t, err)
	if got == nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: record %d: read back as %+v, planned %+v", file, i, got, want)
	}
}

// naive is one total, added up in the plain way.
type naive struct {
	n       int64
	values  map[string]event.Decimal
	flagged bool
}

// TestTotals adds up the records file by file. It compares the result with what the samples say by
// hand.
func TestTotals(t *testing.T) {
	p := load(t)
	states := map[string]map[string]*naive{} // by file
	for _, s := range streamSamples() {
		state := map[string]*naive{}
		for _, earlier := range s.after {
			for k, v := range states[earlier] {
				c := *v
				c.values = maps.Clone(v.values)
				state[k] = &c
			}
		}
		e, heads := s.event(t, p), false // a record that cannot be understood flags every head
		for i, r := range s.records {
			heads = heads || r.outcome == quarantined
			if r.outcome == counted || r.outcome == unchanged || r.outcome == behind {
				change, err := readRecord(t, e.Records[i], s.shard)
				must.Succeed(t, err)
				foldNaively(state, p, &change)
			}
		}
		for _, total := range state {
			total.flagged = total.flagged || heads
		}
		states[s.file] = state
		for _, want := range s.totals {
			compareTotal(t, s.file, p, state, want)
		}
		if len(s.after) == 0 && slices.ContainsFunc(s.records, isCounted) && len(state) != len(s.totals) {
			t.Errorf("%s: touches %d totals and states %d", s.file, len(state), len(s.totals))
		}
	}
}

func isCounted(r record) bool { return r.outcome == counted }

func totalName(aggregate string, by []string, start int64) string {
	text, _ := json.Marshal([]any{aggregate, by, start})
	return string(text)
}

func foldNaively(state map[string]*naive, p *pipeline.Pipeline, c *event.Change) {
	add := func(item *event.Item, sign int64) {
		if item == nil {
			return
		}
		for _, part := range p.Contributions(item).List {
			if c.Expired && part.Def.OnExpire == aggregate.Keep {
				continue
			}
			name := totalName(part.Def.Name, part.By, part.Window)
			if state[name] == nil {
				state[name] = &naive{values: map[string]event.Decimal{}}
			}
			state[name].add(&part, sign)
		}
	}
	add(c.Old, -1)
	add(c.New, 1)
}

func (t *naive) add(c *aggregate.Contribution, sign int64) {
	t.n += sign
	for i, v := range c.Values {
		name := c.Def.Values[i].Name
		if !v.Set {
			continue
		}
		have, known := t.values[name]
		switch op := c.Def.Values[i].Op; {
		case op.Additive() && sign > 0:
			t.values[name] = have.Add(v.Number)
		case op.Additive():
			t.values[name] = have.Sub(v.Number)
		case sign < 0:
			t.flagged = true
		case !known || (op == aggregate.Max) == (v.Number.Cmp(have) > 0):
			t.values[name] = v.Number
		}
	}
}

func compareTotal(t *testing.T, file string, p *pipeline.Pipeline, state map[string]*naive, want total) {
	t.Helper()
	def, ok := p.Definition(want.Aggregate)
	if !ok {
		t.Fatalf("%s: no aggregate %s", file, want.Aggregate)
	}
	start := int64(aggregate.NoWindow)
	if want.Window != "" {
		start = must.Time(want.Window).Unix()
	}
	var by []string
	for _, name := range def.By {
		by = append(by, want.By[name])
	}
	got := state[totalName(want.Aggregate, by, start)]
	if got == nil {
		t.Errorf("%s: nothing is added to %s by %v", file, want.Aggregate, want.By)
		return
	}
	values := map[string]string{}
	for name, d := range got.values {
		values[name] = d.String()
	}
	if got.n != want.N || got.flagged != want.Flagged || !reflect.DeepEqual(values, want.Values) {
		t.Errorf("%s: %s by %v is %v (n %d, flagged %v), stated %v (n %d, flagged %v)", file, want.Aggregate, want.By, values, got.n,
			got.flagged, want.Values, want.N, want.Flagged)
	}
}
