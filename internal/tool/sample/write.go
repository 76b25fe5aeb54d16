package sample

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/show"
)

// Text returns the report for people.
func (r *Report) Text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s: %s, as if nothing were stored before\n", r.File, show.Count(r.Lines, "event"))
	r.verdicts(b)
	r.paths(b)
	hottest(b, "hottest partition keys", r.Keys)
	hottest(b, "hottest totals", r.Totals)
	hottest(b, "hottest lists of totals", r.Lists)
	r.costs(b)
	return b.String()
}

func (r *Report) verdicts(b *strings.Builder) {
	fmt.Fprintln(b, "verdicts")
	t := show.NewTable()
	for _, v := range r.Verdicts {
		what, where := v.Verdict, ""
		if v.Reason != "" {
			what += " (" + v.Reason + ")"
			where = fmt.Sprintf("first in line %d", v.Line)
		}
		if v.Detail != "" {
			where += ": " + v.Detail
		}
		if v.Next > 0 {
			where += fmt.Sprintf("; then line %d", v.Next)
			if v.NextDetail != v.Detail {
				where += ": " + v.NextDetail
			}
		}
		t.Row(show.Comma(v.Count), what, v.Type, where)
	}
	t.Print(b)
	if r.Taking > 0 {
		fmt.Fprintf(b, "  %s of the Inserted need room in a total with a bound. They are Rejected if it has none.\n", show.Comma(r.Taking))
	}
	if r.Rehearsed < r.Lines {
		fmt.Fprintf(b, "  Only the first %s were rehearsed. The others were planned, and have no verdict except Poison.\n",
			show.Count(r.Rehearsed, "event"))
	}
}

func (r *Report) paths(b *strings.Builder) {
	fmt.Fprintln(b, "fields that are missing, empty or of another type in some events")
	t := show.NewTable()
	for _, p := range r.Paths {
		need := "may be missing"
		if p.Needed {
			need = "needed"
		}
		read := "read by " + strings.Join(p.Uses, ", ")
		if p.Meant != "" {
			read += "; did you mean " + p.Meant + "?"
		}
		if p.Place != "" {
			read += " (" + p.Place + ")"
		}
		t.Row(p.Type, p.Path, p.faults(), need, read)
	}
	if len(r.Paths) == 0 {
		t.Row("none")
	}
	t.Print(b)
	have := "have"
	if r.Fine == 1 {
		have = "has"
	}
	fmt.Fprintf(b, "  %s %s the right type in every event\n", show.Count(r.Fine, "other field"), have)
}

// faults returns text such as "absent 3, number 2 of 100".
func (p *Path) faults() string {
	var parts []string
	for _, f := range []struct {
		what  string
		count int
	}{{"absent", p.Absent}, {"null", p.Null}, {"empty", p.Empty}} {
		if f.count > 0 {
			parts = append(parts, f.what+" "+show.Comma(f.count))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(p.Other)) {
		parts = append(parts, kind+" "+show.Comma(p.Other[kind]))
	}
	return strings.Join(parts, ", ") + " of " + show.Comma(p.Of)
}

func hottest(b *strings.Builder, heading string, list []Hot) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(b, heading)
	t := show.NewTable()
	for _, h := range list {
		of := show.Comma(h.Distinct) + " different"
		if !h.Exact {
			of = "over " + of
		}
		if top := h.Top[0]; 2*top.AtLeast < top.AtMost {
			t.Row(h.Of, of, fmt.Sprintf("none of them more than %s of %s", show.Comma(top.AtMost), show.Comma(h.Count)))
			continue
		}
		for i, k := range h.Top {
			name := h.Of
			if i > 0 {
				name, of = "", ""
			}
			t.Row(name, of, k.times(h.Count), k.name())
		}
	}
	t.Print(b)
}

func (k *Key) name() string {
	if k.KeyHash != "" {
		return "key hash " + k.KeyHash
	}
	return strings.TrimSpace(k.PK + "  " + k.SK)
}

// times returns text such as "12 of 100", or with bounds "10 to 12 of 100".
func (k *Key) times(of int) string {
	if k.AtLeast == k.AtMost {
		return show.Comma(k.AtMost) + " of " + show.Comma(of)
	}
	return fmt.Sprintf("at least %s, at most %s of %s", show.Comma(k.AtLeast), show.Comma(k.AtMost), show.Comma(of))
}

func (r *Report) costs(b *strings.Builder) {
	if r.Items.Count == 0 {
		return
	}
	fmt.Fprintln(b, "sizes and units")
	t := show.NewTable()
	i := &r.Items
	parts := ""
	if i.Parts > 0 {
		parts = fmt.Sprintf("; %s of them are parts", show.Comma(i.Parts))
	}
	t.Row("items", fmt.Sprintf("%s of %s to %s bytes (line %d), %s on average%s", show.Comma(i.Count), show.Comma(i.Least),
		show.Comma(i.Most), i.Largest, decimal(i.Mean), parts))
	t.Row("puts", fmt.Sprintf("%s write units with all indexes, %s each on average", show.Comma(i.Units), decimal(i.Each)))
	for _, c := range r.Compress {
		t.Row("compress", fmt.Sprintf("%s of %s of %s take fewer write units", show.Comma(c.Saves), show.Count(c.Of, "item"), c.Type))
	}
	t.Row("updates",
		fmt.Sprintf("%s totals moved by each event on average, %d at most; changes of one batch share an update of one total",
			decimal(r.Updates.Each), r.Updates.Most))
	t.Print(b)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
