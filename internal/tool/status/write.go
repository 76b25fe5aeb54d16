package status

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/show"
)

// mostFlags is how many flags of totals are written for people.
const mostFlags = 20

// Text writes the report for people, on one screen.
func (r *Report) Text(w io.Writer, columns int) error {
	var b strings.Builder
	fmt.Fprintln(&b, show.Text(r.Stack))
	if r.Epoch > 0 {
		fmt.Fprintf(&b, "epoch %d is deployed\n", r.Epoch)
	}
	if r.Home != "" {
		fmt.Fprintf(&b, "events are stored and counted in %s\n", show.Text(r.Home))
	}
	if a := r.Account; a != nil {
		fmt.Fprintf(&b, "the account allows %s calls at a time, and this stack needs %s at its busiest\n", show.Comma(a.Allowed),
			show.Comma(a.Needed))
	}
	b.WriteString("\nQUEUES\n")
	t := show.NewTable(1, 2, 3)
	t.Fit(columns)
	t.Row("", "waiting", "in flight", "oldest")
	for _, q := range r.Queues {
		t.Row(q.Name, show.Comma(q.Waiting), show.Comma(q.InFlight), age(q.Oldest))
	}
	t.Print(&b)
	for _, q := range r.Queues {
		if q.Name == "queue" {
			fmt.Fprintf(&b, "  URL  %s\n  ARN  %s\n", show.Text(q.URL), show.Text(q.ARN))
		}
	}
	r.letters(&b, columns)
	r.calls(&b, columns)
	if len(r.Aggregates) > 0 {
		b.WriteString("\nAGGREGATES\n")
		t = show.NewTable(1)
		t.Fit(columns)
		for _, a := range r.Aggregates {
			state := "counting"
			if a.Building {
				state = "building"
			}
			t.Row(a.Name, "since "+strconv.FormatInt(a.Since, 10), state)
			for _, flag := range a.Flags {
				t.Row("  flag: " + flag)
			}
		}
		t.Print(&b)
	}
	var flagged []string
	for _, f := range r.Flagged {
		if f.Flag != "" {
			flagged = append(flagged, f.Total+": "+f.Flag)
		}
		if f.Accepted != "" {
			flagged = append(flagged, f.Total+": accepted "+f.Accepted)
		}
	}
	if n := len(flagged) - mostFlags; n > 0 {
		flagged = append(flagged[:mostFlags], "and "+show.Count(n, "more flag")+"; --output json lists them")
	}
	section(&b, "FLAGGED TOTALS", flagged)
	var refused []string
	for _, p := range r.Hot {
		refused = append(refused, p.String())
	}
	section(&b, "HOT PARTITIONS OF THE LAST HOUR", refused)
	section(&b, "VERIFIED BY SCHEDULE", r.verifications())
	section(&b, "NOT KNOWN", r.Unknown)
	section(&b, "NOT WELL", r.Unwell)
	if len(r.Unwell) == 0 {
		b.WriteString("\nNothing is wrong with what is known.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verifications says what the schedule has found.
func (r *Report) verifications() (lines []string) {
	v := r.Verified
	if v == nil {
		return nil
	}
	if v.At != "" {
		lines = append(lines, fmt.Sprintf("%s: %s of %s, %s wrong, %s undecided", v.At, show.Count(v.Totals, "total"),
			show.Count(v.Events, "event"), show.Comma(v.Differing), show.Comma(v.Undecided)))
	}
	if v.LeftOut != "" {
		lines = append(lines, "left out: "+v.LeftOut)
	}
	if v.Failed > 0 {
		lines = append(lines, fmt.Sprintf("%s: failed, %s in a row", v.FailedAt, show.Count(v.Failed, "run")))
	}
	return lines
}

// letters writes why messages are in quarantine.
func (r *Report) letters(b *strings.Builder, columns int) {
	if len(r.Quarantine) == 0 {
		return
	}
	b.WriteString("\nIN QUARANTINE\n")
	t := show.NewTable(1)
	t.Fit(columns)
	for _, why := range r.Quarantine {
		note := ""
		if why.Usual {
			note = "usual: a bound refuses events"
		}
		t.Row(why.String(), show.Comma(why.Count), note)
	}
	t.Print(b)
}

// calls writes whether the functions are called, and what becomes of the calls.
func (r *Report) calls(b *strings.Builder, columns int) {
	b.WriteString("\nFUNCTIONS\n")
	t := show.NewTable()
	t.Fit(columns)
	for _, m := range r.Mappings {
		note := ""
		if m.By != "" {
			note = "paused by " + show.Text(m.By) + " since " + m.At.UTC().Format(time.RFC3339)
		}
		t.Row(m.Function, m.State, note)
	}
	for _, f := range r.Functions {
		if f.Calls != nil && f.Failed != nil && f.Throttled != nil {
			t.Row(f.Name+", 15 min", show.Count(*f.Calls, "call"), show.Comma(*f.Failed)+" failed, "+show.Comma(*f.Throttled)+
				" refused by Lambda")
		}
	}
	t.Row("lag of the totals", age(r.Lag), "")
	t.Print(b)
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", show.Text(line))
	}
}

func age(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return time.Duration(*seconds * float64(time.Second)).Round(time.Second).String()
}

// Prometheus writes the report in the text format of Prometheus.
func (r *Report) Prometheus(w io.Writer) error {
	var b strings.Builder
	metric := func(name, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name) }
	metric("ingot_queue_messages", "Messages in a queue, waiting or in flight.")
	for _, q := range r.Queues {
		fmt.Fprintf(&b, "ingot_queue_messages{queue=%s,state=\"waiting\"} %d\n", label(q.Name), q.Waiting)
		fmt.Fprintf(&b, "ingot_queue_messages{queue=%s,state=\"in_flight\"} %d\n", label(q.Name), q.InFlight)
	}
	metric("ingot_queue_oldest_seconds", "Age of the oldest message of a queue.")
	for _, q := range r.Queues {
		if q.Oldest != nil {
			fmt.Fprintf(&b, "ingot_queue_oldest_seconds{queue=%s} %v\n", label(q.Name), *q.Oldest)
		}
	}
	metric("ingot_quarantine_messages", "Messages of quarantine that were looked at, by reason.")
	for _, why := range r.Quarantine {
		fmt.Fprintf(&b, "ingot_quarantine_messages{verdict=%s,reason=%s} %d\n", label(why.Verdict), label(why.Reason), why.Count)
	}
	metric("ingot_function_calls_failed", "Calls of a function that failed as a whole in the last 15 minutes.")
	for _, f := range r.Functions {
		if f.Failed != nil {
			fmt.Fprintf(&b, "ingot_function_calls_failed{function=%s} %d\n", label(f.Name), *f.Failed)
		}
	}
	metric("ingot_lag_seconds", "How far the totals are behind the events.")
	if r.Lag != nil {
		fmt.Fprintf(&b, "ingot_lag_seconds %v\n", *r.Lag)
	}
	metric("ingot_mapping_enabled", "Whether a function is called with what comes in.")
	for _, m := range r.Mappings {
		on := number(m.State == "Enabled")
		fmt.Fprintf(&b, "ingot_mapping_enabled{function=%s,mapping=%s} %d\n", label(m.Function), label(m.UUID), on)
	}
	metric("ingot_alarm", "Alarms that ring.")
	for _, a := range r.Alarms {
		if a.State == "ALARM" {
			fmt.Fprintf(&b, "ingot_alarm{name=%s} 1\n", label(a.Name))
		}
	}
	metric("ingot_aggregate_building", "Whether older items may not be counted yet.")
	for _, a := range r.Aggregates {
		fmt.Fprintf(&b, "ingot_aggregate_building{aggregate=%s} %d\n", label(a.Name), number(a.Building))
	}
	metric("ingot_aggregate_flags", "Flags of a generation.")
	for _, a := range r.Aggregates {
		fmt.Fprintf(&b, "ingot_aggregate_flags{aggregate=%s} %d\n", label(a.Name), len(a.Flags))
	}
	metric("ingot_well", "Whether nothing is wrong with what is known.")
	fmt.Fprintf(&b, "ingot_well %d\n", number(len(r.Unwell) == 0))
	metric("ingot_unknown", "Parts that could not be read.")
	fmt.Fprintf(&b, "ingot_unknown %d\n", len(r.Unknown))
	_, err := io.WriteString(w, b.String())
	return err
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// label quotes the value of a label.
func label(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
