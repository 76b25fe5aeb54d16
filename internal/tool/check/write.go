package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// WriteText writes the report for people: first the findings, then what the totals cost, and then
// one line with the result.
func (r *Report) WriteText(b *strings.Builder, in Input) {
	for _, f := range r.Findings {
		fmt.Fprintln(b, f)
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(b)
	}
	if len(r.Totals) > 0 {
		r.writeTotals(b)
	}
	if len(r.Patterns) > 0 {
		r.writePatterns(b, in.Region)
	}
	if r.Capacity != nil {
		b.WriteString(r.Capacity.text() + "\n")
	}
	if r.Events != nil {
		b.WriteString(r.Events.Text() + "\n")
	}
	fmt.Fprintln(b, r.summary(in))
}

func (r *Report) writeTotals(b *strings.Builder) {
	receipts := ""
	if r.Counting == "receipts" {
		receipts = ", beside 2 for the receipt of each change"
	}
	fmt.Fprintf(b,
		"aggregates (units: write units to update one total%s; new: after its first change; full: after changes from all %s within 72 hours; marks: they say what is counted already; bytes: about its size)\n", receipts, show.Count(r.Partitions, "partition"))
	t := show.NewTable()
	heading := ""
	if slices.ContainsFunc(r.Totals, func(t Total) bool { return t.SpreadForOne > 0 || t.RankShards > 0 || t.MovedBy != "" }) {
		heading = "advice"
	}
	t.Row("name", "since", "spread", "units, new", "units, full", "marks, full", "bytes, full", heading)
	for _, total := range r.Totals {
		advice := ""
		if total.SpreadForOne > 0 {
			advice = fmt.Sprintf("spread: %d lowers a full one to 1 unit", total.SpreadForOne)
		}
		if total.RankShards > 0 {
			units, by, list := estimate.RankUnits, total.Rank, "window"
			if total.RankWithin != nil {
				by, list = by+" within "+strings.Join(total.RankWithin, ", "), "list"
			}
			if total.MovedBy != "" || r.Counting == "receipts" {
				units *= estimate.InTransaction
			}
			advice = fmt.Sprintf("ranked by %s: %d units of it are the index's, which takes about %d moves a second in each %s",
				by, units, total.RankShards*estimate.RankMoves, list)
		}
		if total.MovedBy != "" {
			advice = strings.TrimPrefix(advice+"; "+total.turns(), "; ")
		}
		t.Row(total.Name, fmt.Sprint(total.Since), fmt.Sprint(total.Spread), fmt.Sprint(total.FreshUnits), fmt.Sprint(total.Units),
			fmt.Sprint(total.Marks), fmt.Sprint(total.Bytes), advice)
	}
	t.Print(b)
	fmt.Fprintln(b)
}

// turns says how often a total can move if its transactions exclude each other.
func (t *Total) turns() string {
	text := fmt.Sprintf("moved by the put: one total takes about %d transactions a second", t.Spread*estimate.MovesASecond)
	if t.bounded || t.Rank != "" { // neither goes with spread
		return text
	}
	return text + ", and spread multiplies that"
}

// summary returns the last line, which says what was checked and how many findings there are.
func (r *Report) summary(in Input) string {
	checked := show.And(in.files())
	if in.Was != nil {
		checked += ", compared with " + in.Was.Name
	}
	n := map[rules.Severity]int{}
	for _, f := range r.Findings {
		n[f.Severity]++
	}
	if len(r.Findings) == 0 {
		return checked + ": no mistakes" + r.poison()
	}
	var parts []string
	for _, s := range []rules.Severity{rules.Mistake, rules.Change, rules.Warning} {
		if n[s] > 0 {
			parts = append(parts, show.Count(n[s], string(s)))
		}
	}
	return checked + ": " + strings.Join(parts, ", ") + r.poison()
}

// poison returns what the last line says about the sample events.
func (r *Report) poison() string {
	if r.Events == nil || r.Events.Poison() == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of %s would be Poison%s", show.Count(r.Events.Poison(), "event"), r.Events.File, r.Events.Advice())
}
