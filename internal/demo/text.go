package demo

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
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
	checksText(&b, "CHECKS", s.Checks)
	if e := s.Expiry; e != nil {
		fmt.Fprintf(&b, "\nEXPIRY  the clock jumps to %s: time to live sweeps %s, %s in the archive\n", e.Clock, count(e.Swept, "item"), count(e.Archived, "object"))
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
	fmt.Fprintf(b, "INGOT DEMO  %s: %s\n", comma(d.Events)+" "+d.Name, d.About)
	copies := ""
	if d.Copies > 1 {
		copies = fmt.Sprintf(" in %d weekly copies", d.Copies)
	}
	fmt.Fprintf(b, "            %s to %s%s; seed %d, counting by %s\n", d.From, d.To, copies, s.Seed, s.Counting)
}

func (s *Summary) troubleText(b *bytes.Buffer) {
	b.WriteString("\nTROUBLE\n")
	t := newTable(0)
	t.row("times", "what was done", "what became of it")
	for _, one := range s.Trouble {
		if one.Injected > 0 {
			t.row(comma(one.Injected), one.Title, one.Became)
		}
	}
	t.print(b)
}

// verdictNotes says in a few words what each verdict means.
var verdictNotes = map[event.Verdict]string{
	event.Inserted:  "new, and stored",
	event.Updated:   "a newer revision, and stored",
	event.Duplicate: "the same event is stored already",
	event.Stale:     "a newer revision is stored already",
	event.Conflict:  "another payload is stored under this key: quarantine",
	event.Expired:   "past its time: quarantine",
	event.Poison:    "can never be stored: quarantine",
	event.Retry:     "nothing proven: delivered again",
}

func (s *Summary) verdictText(b *bytes.Buffer) {
	d := s.Deliveries
	fmt.Fprintf(b, "\nVERDICTS  on %s of %s\n", count(d.Received, "delivery"), count(d.Sent, "message"))
	t := newTable(0)
	for _, v := range event.Verdicts {
		if n := d.Verdicts[v.String()]; n > 0 {
			t.row(comma(n), v.String(), verdictNotes[v])
		}
	}
	if d.Unjudged > 0 {
		t.row(comma(d.Unjudged), "none", "the invocation was killed: delivered again")
	}
	t.print(b)
	k, c := s.Kept, s.Changes
	fmt.Fprintf(b, "  Now %s in the table, %s in quarantine (maybe twice, never lost), %d in the dead-letter queue.\n", count(k.Items, "item"), count(k.Quarantine, "message"), k.DeadLetters)
	if k.Unheard > 0 {
		fmt.Fprintf(b, "  %s of them reported Inserted, %s stored unheard (killed, or the answer lost) and found when they came again.\n",
			comma(d.Verdicts[event.Inserted.String()]), comma(k.Unheard))
	}
	fmt.Fprintf(b, "  The stream brought %s, expiry included, %s of them again; %s found counted already and dropped.\n", count(c.Received, "change"), comma(c.Repeated), count(c.Dropped, "step"))
}

func (s *Summary) totalText(b *bytes.Buffer, most int) {
	if len(s.Totals) == 0 {
		return
	}
	b.WriteString("\nTOTALS  and what plain ADDs would have made of the same deliveries\n")
	t := newTable(2, 3, 4)
	name, shown, hidden := "", 0, 0
	for _, total := range s.Totals {
		if total.Aggregate != name {
			name, shown = total.Aggregate, 0
			t.row(name, "", "ingot", "ADD per message", "ADD per change")
		}
		if shown == most {
			hidden++
			continue
		}
		shown++
		label := total.label()
		for _, v := range total.Values {
			t.row("  "+label, v.Name, grouped(v.Stored), grouped(v.PerMessage), grouped(v.PerChange))
			label = ""
		}
	}
	t.print(b)
	if hidden > 0 {
		fmt.Fprintf(b, "  … and %s more: --totals -1 shows all\n", comma(hidden))
	}
}

func (t *Total) label() string {
	var parts []string
	for _, by := range t.By {
		text := by.Text
		if len(text) > 20 {
			text = event.Shorten(text, 12)
		}
		parts = append(parts, text)
	}
	switch {
	case t.days:
		parts = append(parts, strings.TrimSuffix(t.Window, "T00:00:00Z"))
	case t.Window != "":
		parts = append(parts, t.Window)
	}
	return strings.Join(parts, " ")
}

func (s *Summary) costText(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nCOST  per event, trouble included, %s\n", s.Cost.Counted)
	t := newTable(1, 2, 3)
	t.row("", "requests", "write units", "read units")
	for _, part := range []struct {
		name string
		cost TableCost
	}{{"storing", s.Cost.Events}, {"counting", s.Cost.Totals}} {
		t.row(part.name, fmt.Sprintf("%.2f", part.cost.Requests), fmt.Sprintf("%.2f", part.cost.WriteUnits), fmt.Sprintf("%.2f", part.cost.ReadUnits))
	}
	t.print(b)
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
		fmt.Fprintf(b, "  … and %s\n", count(more, "more flag"))
	}
}

func checksText(b *bytes.Buffer, title string, checks []Check) {
	fmt.Fprintf(b, "\n%s\n", title)
	checkRows(b, checks)
}

func checkRows(b *bytes.Buffer, checks []Check) {
	t := newTable(2)
	for _, c := range checks {
		found := "no difference"
		if n := len(c.Differences); n > 0 {
			found = strings.ToUpper(count(n, "difference"))
		}
		t.row(c.Name, c.About, comma(c.Compared), found)
		for i, d := range c.Differences {
			if i == maxDifferences {
				t.rows = append(t.rows, []string{fmt.Sprintf("  … and %s", count(len(c.Differences)-i, "more difference"))})
				break
			}
			t.rows = append(t.rows, []string{"  " + d})
		}
	}
	t.print(b)
}

// grouped writes decimal text with its whole part grouped by thousands.
func grouped(text string) string {
	whole, fraction, has := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || strings.HasPrefix(whole, "-0") {
		return text
	}
	if has {
		return comma(n) + "." + fraction
	}
	return comma(n)
}

// comma writes a number grouped by thousands.
func comma(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes "1 item", "1,707 items".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return comma(n) + " " + noun[:len(noun)-1] + "ies"
	}
	return fmt.Sprintf("%s %ss", comma(n), noun)
}
