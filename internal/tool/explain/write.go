package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// WriteText writes the report for people.
func (r *Report) WriteText(b *strings.Builder) {
	if r.StandInKey {
		fmt.Fprintf(b, "INGOT_PII_KEY is not set: keyed hashes are made with the key %q and are not those in your tables.\n\n", show.StandIn)
	}
	if len(r.Messages) == 0 {
		fmt.Fprintln(b, "There is no message in it.")
	}
	for i := range r.Messages {
		if len(r.Messages) > 1 || r.Messages[i].MessageID != "" {
			fmt.Fprintln(b,
				strings.TrimSpace(fmt.Sprintf("message %d of %d  %s", i+1, len(r.Messages), show.Text(r.Messages[i].MessageID))))
		}
		r.message(b, &r.Messages[i])
		r.parts(b, r.Messages[i].Parts, r.Messages[i].Atomic)
		r.events(b, r.Messages[i].Events)
		if i+1 < len(r.Messages) {
			fmt.Fprintln(b)
		}
	}
}

// table writes aligned columns: a label, then one or two values.
type table struct{ w *tabwriter.Writer }

func (t table) row(label string, values ...string) {
	for i := range values {
		values[i] = show.Text(values[i])
	}
	fmt.Fprintf(t.w, "%s\t%s\n", label, strings.Join(values, "\t"))
}

func (r *Report) message(b *strings.Builder, x *Explanation) {
	t := table{tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)}
	if x.Quarantined == nil {
		t.row("verdict", x.sentence())
	} else {
		x.noteRows(t)
	}
	if x.Detail != "" && (x.Quarantined == nil || x.Detail != x.Quarantined.Detail) {
		t.row("because", x.Detail)
	}
	if x.Line > 0 {
		t.row("there", fmt.Sprintf("line %d, column %d of the file", x.Line, x.Column))
	}
	if x.Advice != "" {
		t.row("advice", x.Advice)
	}
	for _, line := range [][2]string{{"trace", x.Trace}, {"envelope", x.Envelope}, {"type", x.Type}, {"id", x.ID}, {"time", x.At},
		{"revision", x.Revision}} {
		if line[1] != "" {
			t.row(line[0], line[1])
		}
	}
	if x.Key != nil {
		t.row("key", x.Key.PK)
		t.row("", x.Key.SK)
	}
	for _, r := range x.Requires {
		t.row("requires", r.Type)
		t.row("", r.PK)
		t.row("", r.SK)
	}
	if x.Schema != "" {
		t.row("schema", x.Schema)
	}
	if x.Digest != "" {
		t.row("digest", x.Digest)
		t.row("made of", show.Abridged(x.DigestText, maxShown))
	}
	for _, i := range x.Indexes {
		x.index(t, i)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Attributes)) {
		t.row("attribute", name+" = "+x.Attributes[name])
	}
	if x.Digest != "" {
		t.row("expires", x.expiry())
	}
	if x.Archive != "" {
		t.row("archive", x.Archive)
		t.row("", "if that finds it with this digest, the event was stored and this is a duplicate; if not, nothing is proven")
	}
	if x.Item != nil {
		t.row("item", x.cost())
		if form := x.Item.form(); form != "" {
			t.row("payload", form)
		}
	}
	t.w.Flush() // a strings.Builder accepts everything
	r.aggregates(b, x)
}

// events writes the events of a message that is an array. If there are many, it writes the first
// ones and all that could not be stored.
func (r *Report) events(b *strings.Builder, events []Explanation) {
	left := 0
	for i := range events {
		if i >= maxEventsShown && len(events) > maxEventsShown+1 && events[i].Reason == "" {
			left++
			continue
		}
		fmt.Fprintf(b, "\nevent %s of %d\n", events[i].Place, len(events))
		r.message(b, &events[i])
		r.parts(b, events[i].Parts, events[i].Atomic)
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d more events are put or stored already; --output json lists them.\n", left)
	}
}

// maxEventsShown is how many events of an array the text shows.
const maxEventsShown = 5

// parts writes the parts of a message. If there are many, it writes the first ones.
func (r *Report) parts(b *strings.Builder, parts []Explanation, atomic bool) {
	how := "put once the whole is stored"
	if atomic {
		how = "put in one transaction with the whole"
	}
	for i := range parts {
		if i == maxPartsShown && len(parts) > maxPartsShown+1 {
			fmt.Fprintf(b, "\n%d more parts are put too; --output json lists them.\n", len(parts)-i)
			return
		}
		fmt.Fprintf(b, "\npart %d of %d, %s\n", i+1, len(parts), how)
		r.message(b, &parts[i])
	}
}

// maxPartsShown is how many parts of a message the text shows.
const maxPartsShown = 5

// noteRows says why a letter is in quarantine, and what would happen to it now.
func (x *Explanation) noteRows(t table) {
	n := x.Quarantined
	t.row("quarantined", fmt.Sprintf("%s (%s)", n.Verdict, n.Reason))
	if n.Detail != "" {
		t.row("because", n.Detail)
	}
	if n.PK != "" && (x.Key == nil || *x.Key != Key{n.PK, n.SK}) {
		t.row("key then", n.PK)
		t.row("", n.SK)
	}
	switch {
	case n.OfStream():
		t.row("sent again", "never")
	case n.Verdict == "Conflict" && x.Reason == "":
		t.row("sent again", "a Conflict, as long as its key holds something else")
	case n.Verdict == "Rejected" && x.Verdict == "Inserted":
		t.row("sent again", "Inserted, unless its key is taken already or a total refuses it again")
	default:
		t.row("sent again", x.sentence())
	}
}

// sentence returns the verdict in words.
func (x *Explanation) sentence() string {
	switch {
	case x.state:
		return "Inserted, or Updated in place of an older one, unless a newer one is stored"
	case x.Verdict == "Inserted" && x.takes() && len(x.Requires) > 0:
		return "Inserted once what it requires is stored, unless its key is taken already or a bound refuses it"
	case x.Verdict == "Inserted" && x.takes():
		return "Inserted, unless its key is taken already or a bound refuses it"
	case x.Verdict == "Inserted" && len(x.Requires) > 0:
		return "Inserted once what it requires is stored, unless its key is taken already"
	case x.Verdict == "Inserted":
		return "Inserted, unless its key is taken already"
	case x.Verdict == "Updated":
		return "Updated: it replaces an older revision from this file"
	case x.Verdict == event.Dropped.String():
		return fmt.Sprintf("%s (%s): done with, and nothing is stored", x.Verdict, x.Reason)
	case x.Reason != "":
		return fmt.Sprintf("%s (%s): quarantined", x.Verdict, x.Reason)
	}
	return x.Verdict + ": nothing is written"
}

// takes reports whether the message moves a value towards a bound.
func (x *Explanation) takes() bool {
	return slices.ContainsFunc(x.Aggregates, func(a Aggregate) bool {
		return slices.ContainsFunc(a.Adds, func(add Add) bool { return add.AtLeast+add.AtMost != "" })
	}) || slices.ContainsFunc(x.Parts, func(part Explanation) bool { return part.takes() }) ||
		slices.ContainsFunc(x.Events, func(event Explanation) bool { return event.takes() })
}

// maxShown is how much of the digest's text people see.
const maxShown = 1000

func (x *Explanation) index(t table, i Index) {
	if i.Missing != "" {
		t.row(i.Name, "not in it: "+i.Missing)
		return
	}
	t.row(i.Name, i.PK)
	t.row("", i.SK)
}

func (x *Explanation) expiry() string {
	if x.ExpiresAt == "" {
		return "never"
	}
	if x.Retain == "" {
		return x.ExpiresAt + ", as its expires says"
	}
	return fmt.Sprintf("%s, %s after its time", x.ExpiresAt, x.Retain)
}

func (x *Explanation) cost() string {
	text := fmt.Sprintf("%d bytes, %s to put", x.Item.Bytes, show.Count(x.Item.WriteUnits, "write unit"))
	var parts []string
	for _, i := range x.Indexes {
		if i.Missing == "" {
			parts = append(parts, i.Name)
		}
	}
	if len(parts) > 0 {
		text += fmt.Sprintf(": %d each for the table and %s", x.Item.EachUnits, strings.Join(parts, ", "))
	}
	if x.Item.Transaction {
		text += ", in a transaction"
	}
	return text
}

// form says how a payload is stored whose type declares compress or offload.
func (c *Cost) form() string {
	switch {
	case c.PayloadBytes == 0:
		return ""
	case c.Kept != "":
		return fmt.Sprintf("%d bytes, which go to the payload bucket (one PUT request for each delivery); the item keeps %s",
			c.PayloadBytes, c.Kept)
	case c.CompressedBytes == 0:
		return fmt.Sprintf("%d bytes, stored as they came: compressed they would cost as much", c.PayloadBytes)
	}
	return fmt.Sprintf("%d bytes, compressed to %d", c.PayloadBytes, c.CompressedBytes)
}

func (r *Report) aggregates(b *strings.Builder, x *Explanation) {
	if len(x.Aggregates) == 0 {
		return
	}
	fmt.Fprintln(b, "totals")
	t := table{tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)}
	for _, a := range x.Aggregates {
		if a.NotCounted != "" {
			t.row("  "+a.Name, "adds nothing: "+a.NotCounted)
			continue
		}
		t.row("  "+a.Name, a.adds())
		t.row("", a.PK+bucketNote(a.Buckets))
		t.row("", a.SK)
		if a.List != "" {
			t.row("", "in the list "+a.List)
		}
		for _, bound := range a.bounds() {
			t.row("", bound)
		}
		t.row("", r.update(&a))
	}
	if r.Counting == "receipts" && x.counted() {
		t.row("  receipt", show.Count(estimate.ReceiptUnits, "write unit")+" once for this change, so that it is never counted twice")
	}
	t.w.Flush()
}

// counted reports whether the stream moves at least one total.
func (x *Explanation) counted() bool {
	return slices.ContainsFunc(x.Aggregates, func(a Aggregate) bool { return a.NotCounted == "" && a.MovedBy == "" })
}

// bounds says when the total refuses the event.
func (a *Aggregate) bounds() (list []string) {
	for _, add := range a.Adds {
		if add.AtLeast != "" {
			list = append(list, fmt.Sprintf("Rejected if the message would bring %s below %s", add.Value, add.AtLeast))
		}
		if add.AtMost != "" {
			list = append(list, fmt.Sprintf("Rejected if the message would bring %s above %s", add.Value, add.AtMost))
		}
	}
	return list
}

func bucketNote(buckets int) string {
	if buckets == 0 {
		return ""
	}
	return fmt.Sprintf("   (or bucket 1 to %d in place of 0: the stream's shard decides)", buckets-1)
}

// adds returns text such as "orders +1, ordered +4998, largest: max 4998".
func (a *Aggregate) adds() string {
	var parts []string
	for _, add := range a.Adds {
		switch {
		case add.Op != "count" && add.Op != "sum":
			parts = append(parts, fmt.Sprintf("%s: %s %s", add.Value, add.Op, add.Amount))
		case strings.HasPrefix(add.Amount, "-"):
			parts = append(parts, add.Value+" "+add.Amount)
		default:
			parts = append(parts, add.Value+" +"+add.Amount)
		}
	}
	if len(parts) == 0 {
		return "counts it, and none of its values moves"
	}
	return strings.Join(parts, ", ")
}

// update says what the update costs. Changes of one batch share this cost.
func (r *Report) update(a *Aggregate) string {
	if a.MovedBy != "" {
		return a.cost("in the transaction that puts the item; events of a batch share it")
	}
	if r.Counting == "receipts" {
		return show.Count(a.FreshUnits, "write unit") + " an update, which the changes of one transaction share"
	}
	return a.cost("which all changes of one batch share")
}

// cost says what an update costs, with notes about it.
func (a *Aggregate) cost(how string) string {
	text := show.Count(a.FreshUnits, "write unit") + " an update, " + how
	if a.FullUnits > a.FreshUnits {
		text += fmt.Sprintf("; %d when %d marks are in it", a.FullUnits, a.Marks)
	}
	return text
}
