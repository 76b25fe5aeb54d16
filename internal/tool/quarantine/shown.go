package quarantine

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// Shown says why a message is in quarantine, and what it would be today.
type Shown struct {
	ID       string    `json:"id"`
	Dead     bool      `json:"dead"`
	Sent     time.Time `json:"sent"`
	Receives int       `json:"receives"`
	File     string    `json:"file"`
	State    string    `json:"state"`
	Group    string    `json:"group,omitempty"`
	Trace    string    `json:"trace,omitempty"`
	Edited   bool      `json:"edited,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"`

	Today       ShownToday        `json:"today"`
	Stored      *ShownItem        `json:"stored,omitempty"`
	Differences []ShownDifference `json:"differences,omitempty"`
	Events      []ShownEvent      `json:"events,omitempty"`
	Attributes  map[string]any    `json:"attributes,omitempty"`
	Body        string            `json:"body"`
}

// ShownToday is what a message would be if it were sent now.
type ShownToday struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
	ShownKey
}

// String returns the verdict, with its reason.
func (t ShownToday) String() string {
	if t.Reason == "" {
		return t.Verdict
	}
	return t.Verdict + " (" + t.Reason + ")"
}

// ShownEvent is one event of a message with several.
type ShownEvent struct {
	Place string `json:"place"` // where it stands in the message, as [event.Place] writes it
	ShownToday
	Stored      *ShownItem        `json:"stored,omitempty"`
	Differences []ShownDifference `json:"differences,omitempty"`
}

// ShownItem is the event that is stored under the key of a message.
type ShownItem struct {
	ShownKey
	Data string `json:"data"`
	// Elsewhere says that the payload is in the payload bucket, and data is what the item keeps of
	// it.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// ShownKey is what tells an event from others.
type ShownKey struct {
	Type   string `json:"type,omitempty"`
	ID     string `json:"id,omitempty"`
	PK     string `json:"pk,omitempty"`
	SK     string `json:"sk,omitempty"`
	Digest string `json:"digest,omitempty"`
	At     string `json:"at,omitempty"`
}

// ShownDifference is a member in which a message differs from the stored event. A value is empty if
// the member is missing there.
type ShownDifference struct {
	Path    string `json:"path"`
	Stored  string `json:"stored,omitempty"`
	Message string `json:"message,omitempty"`
}

// Show returns what is shown of a message. file is where it is saved, if it is. What personal masks
// is left out.
func Show(l *Letter, file string, today *Today, personal show.Personal) *Shown {
	r := &Shown{ID: l.ID, Dead: l.Dead, Sent: l.Sent, Receives: l.Receives, File: file, State: l.State(),
		Group: personal.Text(l.Group), Edited: l.Original != nil,
		Today: shownToday(today, personal), Body: personal.Data(l.Sends())}
	if r.Trace = quarantine.TraceOf(l.whole(), ""); l.Note != nil {
		r.Trace = l.Note.Trace
		r.Verdict, r.Reason, r.Detail = l.Note.Verdict, l.Note.Reason, personal.Detail(event.Reason(l.Note.Reason), l.Note.Detail)
	}
	for name, attribute := range l.Attributes {
		if r.Attributes == nil {
			r.Attributes = map[string]any{}
		}
		if r.Attributes[name] = any(attribute.Binary); attribute.Text != nil {
			r.Attributes[name] = personal.Attribute(name, *attribute.Text)
		}
	}
	if today.Events == nil {
		r.Stored, r.Differences = bothOf(today, personal)
		return r
	}
	r.Today.ShownKey = ShownKey{} // each event has its own
	for i := range today.Events {
		of := &today.Events[i]
		one := ShownEvent{Place: of.Place, ShownToday: shownToday(of, personal)}
		one.Stored, one.Differences = bothOf(of, personal)
		r.Events = append(r.Events, one)
	}
	return r
}

func shownToday(today *Today, personal show.Personal) ShownToday {
	t := ShownToday{Verdict: today.Verdict.String(), Reason: string(today.Reason), Detail: personal.Detail(today.Reason, today.Detail)}
	if today.Item != nil {
		t.ShownKey = keyOf(personal.Item(*today.Item))
	}
	return t
}

// bothOf returns the stored event, and the members in which it differs from the message.
func bothOf(today *Today, personal show.Personal) (stored *ShownItem, list []ShownDifference) {
	if today.Stored != nil {
		item := personal.Item(*today.Stored)
		stored = &ShownItem{keyOf(item), item.Data, item.Payload != nil}
	}
	for _, d := range today.Differences {
		path := d.Name()
		list = append(list, ShownDifference{path, personal.Member(path, d.Stored), personal.Member(path, d.Message)})
	}
	return stored, list
}

func keyOf(item event.Item) ShownKey {
	return ShownKey{Type: item.Type, ID: item.ID, PK: item.Key.PK, SK: item.Key.SK, Digest: item.Digest.String(),
		At: item.At.UTC().Format(time.RFC3339Nano)}
}

// These are how much of a text people see.
const (
	maxBody  = 2000
	maxValue = 60
)

// Print writes the report for people. same are the flags with which another command reaches the
// same stack.
func (r *Shown) Print(w io.Writer, path, same string, flagged []string) {
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s%s\n", label, value)
		}
	}
	from := "quarantine"
	if r.Dead {
		from = "the dead-letter queue"
	}
	row("message", fmt.Sprintf("%s, %s", r.ID, r.State))
	row("in", fmt.Sprintf("%s since %s, received %s", from, r.Sent.Format(time.RFC3339), show.Count(r.Receives, "time")))
	row("file", show.Text(r.File))
	row("group", show.Text(r.Group))
	row("trace", r.Trace)
	if r.Verdict != "" {
		row("why", fmt.Sprintf("%s (%s)", show.Text(r.Verdict), show.Text(r.Reason)))
		row("", show.Abridged(r.Detail, maxBody))
	}
	row("today", r.Today.String())
	if r.Today.Detail != r.Detail {
		row("", show.Abridged(r.Today.Detail, maxBody))
	}
	row("type", show.Text(r.Today.Type))
	row("key", show.Text(r.Today.PK))
	row("", show.Text(r.Today.SK))
	r.printEvents(w)
	r.printBoth(w, row)
	if r.Today.Reason == string(event.DigestDiffers) {
		fmt.Fprintf(w, "\nIf the message is right:\n  %s\n",
			strings.TrimSpace(fmt.Sprintf("ingot quarantine resend %s %s --replace --yes %s", show.Quoted(path), r.ID[:min(8, len(r.ID))],
				same)))
		if len(flagged) > 0 {
			fmt.Fprintf(w, "  Totals of %s are then flagged: they hold what cannot be taken back.\n", strings.Join(flagged, ", "))
		}
		fmt.Fprintf(w, "If the stored one is right:\n  %s\n",
			strings.TrimSpace(fmt.Sprintf("ingot quarantine drop %s %s --yes %s", show.Quoted(path), r.ID[:min(8, len(r.ID))], same)))
	}
}

// printEvents writes what each event of an array would be, and what is stored in its place.
func (r *Shown) printEvents(w io.Writer) {
	for _, one := range r.Events {
		fmt.Fprintf(w, "\nevent %s  %s\n", one.Place, one.ShownToday)
		if one.Detail != "" {
			fmt.Fprintf(w, "  %s\n", show.Abridged(one.Detail, maxBody))
		}
		if one.PK != "" {
			fmt.Fprintf(w, "  %s  %s  %s\n", show.Text(one.Type), show.Text(one.PK), show.Text(one.SK))
		}
		if one.Stored != nil {
			printDifferences(w, one.Stored.ShownKey, one.ShownKey, one.Differences)
		}
	}
	if len(r.Events) > 0 {
		fmt.Fprintln(w)
	}
}

func (r *Shown) printBoth(w io.Writer, row func(label, value string)) {
	if r.Stored == nil {
		row("body", show.Abridged(r.Body, maxBody))
		return
	}
	fmt.Fprintln(w)
	printDifferences(w, r.Stored.ShownKey, r.Today.ShownKey, r.Differences)
	fmt.Fprintln(w)
	stored := "stored"
	if r.Stored.Elsewhere {
		stored = "in the item" // the payload is in the payload bucket
	}
	row(stored, show.Abridged(r.Stored.Data, maxBody))
	row("message", show.Abridged(r.Body, maxBody))
}

// printDifferences writes a table of how a message differs from the stored event.
func printDifferences(w io.Writer, stored, message ShownKey, list []ShownDifference) {
	t := show.NewTable()
	t.Row("", "stored", "message")
	t.Row("digest", stored.Digest[:16]+"…", message.Digest[:16]+"…")
	t.Row("time", stored.At, message.At)
	for _, d := range list {
		t.Row(d.Path, missing(d.Stored), missing(d.Message))
	}
	t.Print(w)
}

func missing(value string) string {
	if value == "" {
		return "(missing)"
	}
	return show.Abridged(value, maxValue)
}
