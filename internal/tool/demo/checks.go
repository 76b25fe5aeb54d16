package demo

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/demo/tally"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/verify"
)

// verified compares the totals with the items, using Ingot's own verifier. flags are what totals
// and aggregates report about themselves. A flag is not a difference.
func (w *world) verified(ctx context.Context) (c Check, flags []string, err error) {
	report, err := verify.Totals(ctx, w.plan, w.reader, w.Clock.Now())
	if err != nil {
		return Check{}, nil, err
	}
	flags = append([]string{}, report.Flagged...)
	for _, def := range report.Building {
		flags = append(flags, def.String()+", all totals: building: older items may not be counted yet")
	}
	c = Check{Name: "verify", Compared: report.Totals, Partly: report.Partly, Expired: report.Expired, Differences: []string{},
		About: fmt.Sprintf("every total against a new fold of the %s stored", show.Count(report.Items, "item"))}
	if report.Partly > 0 { // the values of expired items are gone and cannot be added up again
		c.About += fmt.Sprintf(" (%s by fingerprint alone: events expired)", show.Comma(report.Partly))
	}
	if report.Expired > 0 {
		c.About += fmt.Sprintf(" (%s by n alone: events expired)", show.Comma(report.Expired))
	}
	for _, d := range report.Differences {
		c.Differences = append(c.Differences, d.String())
	}
	c.Differences = append(c.Differences, report.Unreadable...)
	return c, flags, nil
}

// tallied compares the totals with a tally of the producer's list, made before any trouble.
func (w *world) tallied(totals map[slot]*stored, t *tally.Tally) Check {
	c := Check{Name: "tally", About: fmt.Sprintf("every total against a plain tally of the producer's %s, made before the trouble",
		show.Count(t.Events, "event")), Differences: []string{}}
	seen := map[tally.Total]bool{}
	for at, total := range totals {
		name := tally.Total{Aggregate: at.name, By: at.by, Window: lanes.WindowText(at.window)}
		seen[name] = true
		c.Compared++
		for _, v := range total.def.Values {
			c.compare(fmt.Sprintf("%s %s %s: %s", name.Aggregate, name.By, name.Window, v.Name), total.values[v.Name].Number,
				t.Totals[name][v.Name])
		}
	}
	for name := range t.Totals {
		if !seen[name] {
			c.Compared++
			c.Differences = append(c.Differences, fmt.Sprintf("%s %s %s: is missing", name.Aggregate, name.By, name.Window))
		}
	}
	slices.Sort(c.Differences)
	return c
}

func (c *Check) compare(what string, has event.Decimal, wants *big.Rat) {
	if wants == nil {
		wants = new(big.Rat)
	}
	is, ok := new(big.Rat).SetString(has.String())
	if !ok || is.Cmp(wants) != 0 {
		c.Differences = append(c.Differences, fmt.Sprintf("%s is %s, and the list adds up to %s", what, has, exactly(wants)))
	}
}

// exactly writes a fraction as a decimal. All fractions of the tally are decimals.
func exactly(r *big.Rat) string {
	digits, exact := r.FloatPrec()
	if !exact {
		return r.RatString()
	}
	return r.FloatString(digits)
}

// listed compares the totals with plain sums over the producer's list. It is for data without a
// hand-written tally. The sums are made without a store, marks or trouble, but Ingot's own code
// reads the pipeline. A list with the same event twice cannot be summed in this way.
func (w *world) listed(totals map[slot]*stored, list *naive, events, refused, planned, items int) Check {
	c := Check{Name: "list", Differences: []string{}}
	if planned != items {
		c.About = fmt.Sprintf("not compared: the producer's %s make %s, so some lines have the key of an earlier one",
			show.Count(events, "line"), show.Count(items, "item"))
		return c
	}
	c.About = fmt.Sprintf("every total against plain sums over the producer's %s, made before the trouble", show.Count(events, "event"))
	if refused > 0 {
		c.About += fmt.Sprintf(", without the %s that a bound refused", show.Comma(refused))
	}
	for at, total := range totals {
		c.Compared++
		for _, v := range total.def.Values {
			if is, want := total.values[v.Name], list.totals[at][v.Name]; different(is, want) {
				c.Differences = append(c.Differences, fmt.Sprintf("%s %s %s: %s is %s, and the list adds up to %s", at.name, at.by,
					lanes.WindowText(at.window), v.Name, shown(v.Op, is), shown(v.Op, want)))
			}
		}
	}
	for at := range list.totals {
		if totals[at] == nil {
			c.Compared++
			c.Differences = append(c.Differences, fmt.Sprintf("%s %s %s: is missing", at.name, at.by, lanes.WindowText(at.window)))
		}
	}
	slices.Sort(c.Differences)
	return c
}

// accounts checks that every message is accounted for. planned is how many items the events of the
// list make. That is more than the number of events if some have parts.
func (w *world) accounts(events, planned int, kept Kept, distinct bool) Check {
	c := Check{Name: "accounts", About: "every message accounted for", Compared: w.ledger.sent, Differences: []string{}}
	differ := func(format string, args ...any) { c.Differences = append(c.Differences, fmt.Sprintf(format, args...)) }
	judged := 0
	for _, n := range w.ledger.verdicts {
		judged += n
	}
	if judged+w.ledger.unjudged != w.ledger.deliveries {
		differ("%d deliveries, but %d verdicts and %d without one", w.ledger.deliveries, judged, w.ledger.unjudged)
	}
	if distinct && kept.Items != planned {
		differ("%d items are stored, and the producer's list has %d events of %d items", kept.Items, events, planned)
	}
	// A verdict is about a whole message, so this comparison works only if every message makes one
	// item.
	if inserted := w.ledger.verdicts[event.Inserted]; planned == events && w.ledger.arrays == 0 && inserted+kept.Unheard != kept.Items {
		differ("%d items are stored, and %d were reported Inserted and %d stored unheard", kept.Items, inserted, kept.Unheard)
	}
	if kept.DeadLetters > 0 {
		differ("%d messages are in the dead-letter queue: they failed %d times", kept.DeadLetters, stack.MaxReceives)
	}
	if n := len(w.ledger.first); n > 0 {
		differ("%d messages never came to a verdict", n)
	}
	for _, v := range event.Verdicts { // perhaps twice, but never zero times
		if there, said := w.ledger.quarantined[v.String()], w.ledger.settled[v]; v.Quarantined() && there < said {
			differ("%d messages are in quarantine as %s, and that was the verdict on %d", there, v, said)
		}
	}
	return c
}

// aged compares the totals after everything has expired with those before. A total that keeps
// expired events must be unchanged. A total that subtracts them must have fallen to nothing. A
// total that has itself expired may be gone.
func (w *world) aged(before, after map[slot]*stored) (kept, fallen Check) {
	kept = Check{Name: "keep", About: "totals that keep what expires stand as they stood", Differences: []string{}}
	fallen = Check{Name: "subtract", About: "totals that subtract what expires are down to nothing", Differences: []string{}}
	astray := 0
	for _, at := range slices.SortedFunc(maps.Keys(before), func(a, b slot) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		was, is := before[at], after[at]
		if expiry := lanes.Expiry(was.def, at.window); expiry != 0 && w.Clock.Now().Unix() >= expiry {
			continue
		}
		if is == nil {
			is = &stored{def: was.def}
		}
		if was.def.OnExpire == aggregate.Subtract {
			fallen.Compared++
			fallen.stand(at, is.n, 0)
			if w.perChange.left(at) {
				astray++
			}
		} else {
			kept.Compared++
			kept.stand(at, is.n, was.n)
		}
		for _, v := range was.def.Values {
			switch want := was.values[v.Name]; {
			case was.def.OnExpire == aggregate.Keep && different(is.values[v.Name], want):
				kept.Differences = append(kept.Differences, fmt.Sprintf("%s %s: %s was %s and is %s", at.name, at.by, v.Name,
					shown(v.Op, want), shown(v.Op, is.values[v.Name])))
			case was.def.OnExpire == aggregate.Subtract && different(is.values[v.Name], aggregate.Amount{}):
				fallen.Differences = append(fallen.Differences, fmt.Sprintf("%s %s: %s is %s, not 0", at.name, at.by, v.Name,
					shown(v.Op, is.values[v.Name])))
			}
		}
	}
	fallen.About += fmt.Sprintf(" (by plain ADDs per change %s would not)", show.Comma(astray))
	return kept, fallen
}

// different reports whether two amounts differ. An amount that nothing supplies is 0.
func different(a, b aggregate.Amount) bool { return a.Text != b.Text || a.Number.Cmp(b.Number) != 0 }

func (c *Check) stand(at slot, is, want int64) {
	if is != want {
		c.Differences = append(c.Differences, fmt.Sprintf("%s %s: counts %d contributions, not %d", at.name, at.by, is, want))
	}
}
