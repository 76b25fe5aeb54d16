package demo

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// maxDifferences is how many differences of one check are printed at most, and how many flags.
const maxDifferences = 10

// Text writes the summary for people. totals is how many totals of each aggregate it shows. If it
// is negative, Text shows all.
func (s *Summary) Text(w io.Writer, totals int) error {
	var b bytes.Buffer
	s.head(&b)
	s.troubleText(&b)
	s.verdictText(&b)
	s.totalText(&b, totals)
	s.costText(&b)
	flagsText(&b, s.Flags)
	b.WriteString("\nCHECKS\n")
	checkRows(&b, s.Checks)
	if e := s.Expiry; e != nil {
		fmt.Fprintf(&b, "\nEXPIRY  the clock jumps to %s: time to live sweeps %s into %s\n", e.Clock,
			show.Count(e.Swept, "item"), show.Count(e.Objects, "archive file"))
		checkRows(&b, e.Checks)
		flagsText(&b, e.Flags)
	}
	switch {
	case !s.Same:
		b.WriteString("\nWhat is stored differs from what was sent: see the differences above.\n")
	case len(s.Totals) == 0:
		b.WriteString("\nEvery event is stored once; there are no totals.\n")
	case len(s.Flags) > 0:
		b.WriteString("\nNothing differs, but some totals are flagged: see FLAGS.\n")
	default:
		b.WriteString("\nEvery event is stored once and counted once.\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s *Summary) head(b *bytes.Buffer) {
	d := s.Data
	fmt.Fprintf(b, "INGOT DEMO  %s: %s\n", show.Comma(d.Events)+" "+d.Name, d.About)
	copies := ""
	if d.Copies > 1 {
		copies = fmt.Sprintf(" in %d weekly copies", d.Copies)
	}
	fmt.Fprintf(b, "            %s to %s%s; seed %d, counting by %s\n", d.From, d.To, copies, s.Seed, s.Counting)
}

func (s *Summary) troubleText(b *bytes.Buffer) {
	b.WriteString("\nTROUBLE\n")
	t := show.NewTable(0)
	t.Row("times", "what was done", "what became of it")
	for _, one := range s.Trouble {
		if one.Injected > 0 {
			t.Row(show.Comma(one.Injected), one.Title, one.Became)
		}
	}
	t.Print(b)
}

func (s *Summary) verdictText(b *bytes.Buffer) {
	d := s.Deliveries
	arrays := ""
	if d.Arrays > 0 {
		arrays = fmt.Sprintf(", %s of them arrays of events", show.Comma(d.Arrays))
	}
	fmt.Fprintf(b, "\nVERDICTS  on %s of %s%s\n", show.Count(d.Received, "delivery"), show.Count(d.Sent, "message"), arrays)
	t := show.NewTable(0)
	for _, v := range event.Verdicts {
		if n := d.Verdicts[v.String()]; n > 0 {
			t.Row(show.Comma(n), v.String(), v.Means())
		}
	}
	if d.Unjudged > 0 {
		t.Row(show.Comma(d.Unjudged), "none", "the invocation was killed, or could not start: delivered again")
	}
	t.Print(b)
	k, c := s.Kept, s.Changes
	fmt.Fprintf(b, "  Now %s in the table, %s in quarantine (maybe twice, never lost), %d in the dead-letter queue.\n",
		show.Count(k.Items, "item"), show.Count(k.Quarantine, "message"), k.DeadLetters)
	switch inserted := d.Verdicts[event.Inserted.String()]; {
	case k.Unheard == 0:
	case inserted+k.Unheard == k.Items:
		fmt.Fprintf(b, "  %s of them reported Inserted, %s stored unheard (killed, or the answer lost) and found when they came again.\n",
			show.Comma(inserted), show.Comma(k.Unheard))
	default: // some events have parts: a verdict is about a message
		fmt.Fprintf(b, "  %s of them stored unheard (killed, or the answer lost) and found when they came again.\n", show.Comma(k.Unheard))
	}
	fmt.Fprintf(b, "  The stream brought %s, expiry included, %s of them again; %s found counted already and dropped.\n",
		show.Count(c.Received, "change"), show.Comma(c.Repeated), show.Count(c.Dropped, "step"))
}

func (s *Summary) totalText(b *bytes.Buffer, most int) {
	if len(s.Totals) == 0 {
		return
	}
	b.WriteString("\nTOTALS  and what plain ADDs would have made of the same deliveries\n")
	t := show.NewTable(2, 3, 4)
	name, shown, hidden := "", 0, 0
	for _, total := range s.Totals {
		if total.Aggregate != name {
			name, shown = total.Aggregate, 0
			t.Row(name, "", "ingot", "ADD per message", "ADD per change")
		}
		if shown == most {
			hidden++
			continue
		}
		shown++
		label := total.name()
		for _, v := range total.Values {
			t.Row("  "+label, v.Name, show.Grouped(v.Stored), show.Grouped(v.PerMessage), show.Grouped(v.PerChange))
			label = ""
		}
	}
	t.Print(b)
	if hidden > 0 {
		fmt.Fprintf(b, "  … and %s more: --totals -1 shows all\n", show.Comma(hidden))
	}
}

// hashed matches what hmac and sha256 make.
var hashed = regexp.MustCompile(`^[0-9a-f]{21,64}$`)

func (t *Total) name() string {
	var parts []string
	for _, by := range t.By {
		text := by.Text
		switch runes := []rune(text); {
		case hashed.MatchString(text):
			text = excerpt.Of(text, 12)
		case len(runes) > 30: // names of one kind often differ at the end alone
			text = string(runes[:14]) + "…" + string(runes[len(runes)-14:])
		}
		parts = append(parts, text)
	}
	if t.label != "" {
		parts = append(parts, t.label)
	}
	return strings.Join(parts, " ")
}

func (s *Summary) costText(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nCOST  per event, trouble included, %s\n", s.Cost.Counted)
	t := show.NewTable(1, 2, 3)
	t.Row("", "requests", "write units", "read units")
	for _, part := range []struct {
		name string
		cost TableCost
	}{{"storing", s.Cost.Events}, {"counting", s.Cost.Totals}} {
		t.Row(part.name, fmt.Sprintf("%.2f", part.cost.Requests), fmt.Sprintf("%.2f", part.cost.WriteUnits),
			fmt.Sprintf("%.2f", part.cost.ReadUnits))
	}
	t.Print(b)
}

// flagsText prints what totals and aggregates report about themselves, if there is anything.
func flagsText(b *bytes.Buffer, flags []string) {
	if len(flags) == 0 {
		return
	}
	b.WriteString("\nFLAGS  totals that say of themselves that something about them is not proven, or not complete\n")
	for _, flag := range flags[:min(len(flags), maxDifferences)] {
		fmt.Fprintf(b, "  %s\n", flag)
	}
	if more := len(flags) - maxDifferences; more > 0 {
		fmt.Fprintf(b, "  … and %s\n", show.Count(more, "more flag"))
	}
}

func checkRows(b *bytes.Buffer, checks []Check) {
	t := show.NewTable(2)
	for _, c := range checks {
		found := "no difference"
		if n := len(c.Differences); n > 0 {
			found = strings.ToUpper(show.Count(n, "difference"))
		}
		t.Row(c.Name, c.About, show.Comma(c.Compared), found)
		for i, d := range c.Differences {
			if i == maxDifferences {
				t.Row(fmt.Sprintf("  … and %s", show.Count(len(c.Differences)-i, "more difference")))
				break
			}
			t.Row("  " + d)
		}
	}
	t.Print(b)
}
