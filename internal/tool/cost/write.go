package cost

import (
	"fmt"
	"math"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// WriteText writes the report for people. No line is longer than 80 columns, except for names of
// files.
func (r *Report) WriteText(b *strings.Builder) {
	fmt.Fprintf(b, "%s at %s a second: %s million in a month of %d hours\n", r.Pipeline, itemsOf(r.Rate, "event"),
		amount(r.Messages/1e6), r.Hours)
	width := 12
	if r.Batches.Transaction > 0 {
		width = 14
	}
	for _, line := range r.suppositions() {
		fmt.Fprintf(b, "  %-*s%s\n", width, line[0], line[1])
	}
	b.WriteString("\n")
	r.table(b)
	b.WriteString("\n")
	for _, note := range r.notes() {
		b.WriteString(wrapped(note) + "\n")
	}
}

func (r *Report) suppositions() [][2]string {
	e := r.Events
	var list [][2]string
	if e.File != "" {
		list = append(list,
			[2]string{"events", fmt.Sprintf("as the %s of %s: %s bytes each", show.Count(e.Messages, "line"), e.File, amount(e.Bytes))})
	} else {
		list = append(list,
			[2]string{"events", fmt.Sprintf("supposed: %s, the costliest type, of 1 KB, in %s", e.Type,
				show.Count(e.Indexes, "index"))})
	}
	if e.InMessage > 0 {
		list[0][1] += fmt.Sprintf(", %s in a message", amount(e.InMessage))
	}
	if e.Parts > 0 {
		list[0][1] += fmt.Sprintf("; each event also yields %s", itemsOf(e.Parts, "part"))
	}
	list = append(list,
		[2]string{"batches", fmt.Sprintf("about %s messages; %s changes, each %s of a total", amount(r.Batches.Ingest),
			amount(r.Batches.Streams), itemsOf(e.Updates, "update"))},
		[2]string{"stack", fmt.Sprintf("%s; functions of %d MB on %s", show.Count(r.Partitions, "partition"), r.Memory, r.Architecture)})
	if t := r.Batches.Transaction; t > 0 {
		list = append(list,
			[2]string{"transactions", fmt.Sprintf("about %s in each; what is in them costs twice as much", itemsOf(t, "item"))})
	}
	if r.Duplicates > 0 {
		list = append(list, [2]string{"duplicates", fmt.Sprintf("%s more deliveries for each message", amount(r.Duplicates))})
	}
	prices := fmt.Sprintf("%s, for %s", r.Prices.File, r.Prices.Region)
	if r.Prices.Read != "" {
		prices += ", read " + r.Prices.Read + " or later"
	}
	return append(list, [2]string{"prices", prices})
}

func (r *Report) table(b *strings.Builder) {
	row := func(cells ...any) {
		line := fmt.Sprintf("%-16s  %-19s  %13s  %11s  %11s", cells...)
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	row("part", "counted", "per million", "$/million", "$/month")
	name := ""
	for _, p := range r.Parts {
		shown := p.Name
		if p.Name == name {
			shown = ""
		}
		name = p.Name
		switch {
		case p.Price == "":
			row(shown, p.Counted, amount(p.AMillion), "", "")
		case p.DollarsAMonth == nil:
			row(shown, p.Counted, amount(p.AMillion), "not known", "not known")
		default:
			row(shown, p.Counted, amount(p.AMillion), fmt.Sprintf("%.4f", *p.DollarsAMillion), dollars(*p.DollarsAMonth))
		}
	}
	row("all", "", "", fmt.Sprintf("%.4f", r.DollarsAMillion), dollars(r.DollarsAMonth))
	for i, other := range r.Beside {
		shown := "beside it"
		if i > 0 {
			shown = ""
		}
		row(shown, other.Name, "", fmt.Sprintf("%.4f", other.DollarsAMillion), dollars(other.DollarsAMonth))
	}
	if r.Capacity != nil {
		for i, line := range r.Capacity.lines() {
			shown := "the tables alone"
			if i > 0 {
				shown = ""
			}
			b.WriteString(fmt.Sprintf("  %-16s  %-48s  %11s\n", shown, line[0], line[1]))
		}
	}
}

func (r *Report) notes() []string {
	var list []string
	switch {
	case r.Events.File == "":
		list = append(list, "The events are made up, and hardly two of them move the same total. Name sample events with "+
			"--events for their real sizes, types and folding.")
	case r.Partial:
		list = append(list, "The sample is shorter than one batch of each partition, so totals fold better than it shows.")
	}
	if r.Capacity != nil {
		list = append(list, r.Capacity.advice(r.Rate))
	}
	if r.Events.More {
		list = append(list, fmt.Sprintf("These are the first lines of the file: at most %s are rehearsed, for at most 5 seconds.",
			show.Comma(rehearse.MaxMessages)))
	}
	if r.Grows {
		list = append(list, "Some events are kept for ever: each month adds the storage that is shown.")
	}
	if r.MovedByPut {
		list = append(list, fmt.Sprintf("Transactions that move one total exclude each other: it takes about %d of them a second. "+
			"Without a bound, spread multiplies that.", estimate.MovesASecond))
	}
	if r.RestoreDollars != nil {
		list = append(list, fmt.Sprintf("If the events table is lost, to restore it costs %s once.", dollars(*r.RestoreDollars)))
	}
	if len(r.Unpriced) > 0 {
		list = append(list, fmt.Sprintf("%s gives no price for %s: the sum is without it.", r.Prices.File, strings.Join(r.Unpriced, ", ")))
	}
	return append(list, "Free tiers, discounts, data transfer, support and what stored totals take are not in it.")
}

// wrapped breaks a note into lines of at most 80 columns.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && column+1+len(word) > 80:
			b.WriteString("\n")
			column = 0
		case i > 0:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// amount returns a figure with three digits or more.
func amount(f float64) string {
	switch size := math.Abs(f); {
	case size >= 100 || f == math.Trunc(f):
		return show.Comma(int(math.Round(f)))
	case size >= 10:
		return fmt.Sprintf("%.1f", f)
	case size >= 1:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// dollars returns an amount with cents, and with its thousands separated.
func dollars(f float64) string { return show.Grouped(fmt.Sprintf("%.2f", f)) }

func itemsOf(n float64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return amount(n) + " " + what + "s"
}
