package ingottest

import (
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/verify"
)

// Items returns all stored events by key. They include events that have expired and that Sweep has
// not removed yet.
func (w *World) Items() []*event.Item {
	w.t.Helper()
	var items []*event.Item
	for item, err := range w.reader.Items(w.ctx) {
		w.must(err)
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b *event.Item) int { return a.Key.Compare(b.Key) })
	return items
}

// Total returns the total of one aggregate for these values of by, in the window that contains at.
// Give the event's own time as at, and not Now, which Drain moves. An aggregate without windows has
// one total, whatever at is. If no event has changed the total, or if it has expired, Total returns
// a total whose values are all 0. If its aggregate is building or flagged, the total says so: see
// [query.Total].
//
// The values of by are those that the functions of the template return: the lower case for {site |
// lower}, the hash for {customer_id | hmac}. A value that the template never makes
// ends the test. [pipeline.Pipeline.By] computes the values.
func (w *World) Total(name string, by map[string]string, at time.Time) query.Total {
	w.t.Helper()
	def, ok := w.plan.Definition(name)
	if !ok {
		w.t.Fatalf("ingottest: the pipeline has no aggregate %q", name)
	}
	if def.Window != 0 && at.IsZero() {
		w.t.Fatalf("ingottest: aggregate %s has windows of %s, and Total was given no time: give it the time of an event that it counts",
			name, def.Window)
	}
	start := at
	if def.Window != 0 {
		start = time.Unix(lanes.WindowStart(def, at), 0)
	}
	totals, err := w.Reader().Total(w.ctx, name, by, start, start.Add(time.Second))
	w.must(err)
	if len(totals) == 0 {
		return query.Total{}
	}
	return totals[0]
}

// Read answers a question by the named pattern of the pipeline, with the items of all pages: see
// [query.Reader.Read]. It reads as if the indexes had caught up with the table, so the answer has
// every write so far. Next is empty, and Read, Requests and Units are summed over all pages.
func (w *World) Read(pattern string, ask query.Ask) query.Answer {
	w.t.Helper()
	var all query.Answer
	for {
		page, err := w.Reader().Read(w.ctx, pattern, ask)
		w.must(err)
		all.Items, all.Totals = append(all.Items, page.Items...), append(all.Totals, page.Totals...)
		all.Unreadable = append(all.Unreadable, page.Unreadable...)
		all.Read, all.Requests, all.Units = all.Read+page.Read, all.Requests+page.Requests, all.Units+page.Units
		if ask.Page = page.Next; ask.Page == "" {
			return all
		}
	}
}

// ReadBehind is [World.Read] while indexes lag behind the table, as they do in DynamoDB. Each
// request may be answered without some of the latest writes, as Config.Seed decides: those of the
// last 5 seconds, at most 64. The clock stands still while the functions run, so these are mostly
// all that was stored since the last Advance. A read with Consistent has every write.
func (w *World) ReadBehind(pattern string, ask query.Ask) query.Answer {
	w.t.Helper()
	w.faults.lag = func(r embedded.Read) int { return w.lags.IntN(r.Writes + 1) }
	defer func() { w.faults.lag = nil }()
	return w.Read(pattern, ask)
}

// Verdicts returns how many deliveries of messages came to each verdict. A delivery has no verdict
// if a crash ended it, or if it was never answered.
func (w *World) Verdicts() map[event.Verdict]int { return maps.Clone(w.verdicts) }

// Archived returns the names of all objects in the archive. There is one for each item that time to
// live removed.
func (w *World) Archived() []string {
	w.t.Helper()
	names, err := w.world.Objects(w.ctx)
	w.must(err)
	return names
}

// Verify drains the queue and the stream, adds up all items again and compares every total. The
// test fails if there is a difference, a flag, a stored event with a missing part, a message that
// SQS has deleted for its age, or a fault that you asked for and that never happened. An aggregate
// that is building is only logged.
func (w *World) Verify() {
	w.t.Helper()
	w.Drain()
	for _, f := range w.faults.planned {
		w.t.Errorf("ingottest: %s(%s, %d) never came about: the function sent only %d requests", f.kind, f.function, f.request,
			w.faults.sent[f.function]-f.at+f.request)
	}
	if n := w.aged(); n > 0 {
		w.t.Errorf("ingottest: %s in the queue for 4 days, not done with: SQS has deleted what is so old; call Drain before Advance",
			messagesWere(n))
	}
	report, err := verify.Totals(w.ctx, w.plan, w.reader, w.world.Clock.Now())
	w.must(err)
	for _, d := range report.Differences {
		w.t.Errorf("ingottest: %s", d)
	}
	if n := report.MissingParts; n > 0 {
		w.t.Errorf("ingottest: %d parts of stored events are missing: a function that did not know them has stored the events; call "+
			"Store().PutParts to put them", n)
	}
	for _, def := range report.Building {
		w.t.Logf("ingottest: %s is building: events from before it was deployed may not be counted in it", def)
	}
	for _, text := range slices.Concat(report.Flagged, report.Unreadable) {
		w.t.Errorf("ingottest: %s", text)
	}
}
