package quarantine

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// examiner returns an examiner that judges messages by the deployed pipeline and the tables of a
// stack.
func (a *app) examiner(cmd *cobra.Command, t *target.Target, writes bool) (quarantine.Examiner, error) {
	p, err := a.Deployed(cmd.Context(), t, true, writes)
	if err != nil {
		return quarantine.Examiner{}, err
	}
	st, err := a.Store(t, p)
	return quarantine.Examiner{Pipeline: p, Store: st}, err
}

const showHelp = `Says why a message is in quarantine, what it would be if it were sent today, and what is stored under its key.
If an event is stored there, it lists the members that differ, except those that pipeline.yaml ignores. An ID may be
shortened.

Values that pipeline.yaml hashes with hmac are personal and are masked, also inside envelopes, unless --reveal is
given. If the pipeline has such values, a body that is not JSON is masked as a whole, and so are the group and what a
detail quotes.

If the message is an array, only the events that could not be stored are shown. The others are stored, and are not
sent again.

A message can replace a stored event (resend --replace) only after show has printed both.

Exit codes: 0 it would be stored today, 3 it would be quarantined again or its payload is in S3, 1 failed.

` + command.TargetHelp + `

With --output json, one object:
  id, dead, sent, receives, file, state, verdict, reason, detail, edited, group
  today         verdict, reason, detail, type, id, pk, sk, digest, at
  stored        type, id, pk, sk, digest, at, data; absent if there is no event under the key; elsewhere, if its
                payload is in the payload bucket and data is what the item keeps of it
  differences[] path, stored, message; a value is JSON, and absent if the member is missing there
  events[]      in place of today, stored and differences, if the message is an array: position, verdict, reason,
                detail, type, id, pk, sk, digest, at, stored, differences
  attributes    by name, text or binary
  body`

type shown struct {
	ID       string    `json:"id"`
	Dead     bool      `json:"dead"`
	Sent     time.Time `json:"sent"`
	Receives int       `json:"receives"`
	File     string    `json:"file"`
	State    string    `json:"state"`
	Group    string    `json:"group,omitempty"`
	Edited   bool      `json:"edited,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"`

	Today       shownToday        `json:"today"`
	Stored      *shownEvent       `json:"stored,omitempty"`
	Differences []shownDifference `json:"differences,omitempty"`
	Events      []shownOne        `json:"events,omitempty"`
	Attributes  map[string]any    `json:"attributes,omitempty"`
	Body        string            `json:"body"`
}

type shownToday struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
	shownKey
}

// shownOne is one event of an array.
type shownOne struct {
	Position int `json:"position"`
	shownToday
	Stored      *shownEvent       `json:"stored,omitempty"`
	Differences []shownDifference `json:"differences,omitempty"`
}

type shownEvent struct {
	shownKey
	Data string `json:"data"`
	// Elsewhere says that the payload is in the payload bucket, and data is what the item keeps of
	// it.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

type shownKey struct {
	Type   string `json:"type,omitempty"`
	ID     string `json:"id,omitempty"`
	PK     string `json:"pk,omitempty"`
	SK     string `json:"sk,omitempty"`
	Digest string `json:"digest,omitempty"`
	At     string `json:"at,omitempty"`
}

type shownDifference struct {
	Path    string `json:"path"`
	Stored  string `json:"stored,omitempty"`
	Message string `json:"message,omitempty"`
}

type showOptions struct{ reveal bool }

func newShow(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show DIR ID",
		Short: "Say why a message is there, and what it would be today",
		Long:  showHelp,
		Example: `  ingot quarantine show letters 3f2a91c0 --stack shop
  ingot quarantine show letters 3f2a91c0 --local --reveal`,
		Args: folderAnd(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.showLetter(cmd, t, args[0], args[1], o)
		},
	}
	a.TargetFlags(cmd)
	a.DeployedFlag(cmd)
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, "show personal values")
	return cmd
}

func (a *app) showLetter(cmd *cobra.Command, t *target.Target, path, id string, o showOptions) error {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	l, err := dir.Find(id)
	if err != nil {
		return cli.Usage(err)
	}
	j := &job{app: a, t: t, dir: dir}
	if _, _, err := j.of([]*quarantine.Letter{l}); err != nil {
		return err
	}
	x, err := a.examiner(cmd, t, false)
	if err != nil {
		return err
	}
	today, err := x.Examine(cmd.Context(), l)
	if err != nil {
		return err
	}
	var personal show.Personal
	if !o.reveal {
		personal = show.PersonalOf(x.Pipeline)
	}
	report := reportOf(dir, l, today, personal)
	if a.JSON() {
		err = a.WriteJSON(report)
	} else {
		report.print(a.Stdout, path, strings.Join(a.Again(t), " "), flaggedBy(x, today))
	}
	// Only an event that a person was shown may be replaced.
	if seen := today.Digests(); err == nil && l.Open() && !slices.Equal(l.Seen, seen) {
		l.Seen = seen
		err = dir.Save(l)
	}
	if err == nil && !today.Verdict.Stored() {
		err = cli.Difference()
	}
	return err
}

func flaggedBy(x quarantine.Examiner, today *quarantine.Today) (names []string) {
	for _, one := range today.All() {
		if one.Stored != nil {
			names = append(names, quarantine.Flagged(x, one.Stored)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func reportOf(dir quarantine.Dir, l *quarantine.Letter, today *quarantine.Today, personal show.Personal) *shown {
	r := &shown{ID: l.ID, Dead: l.Dead, Sent: l.Sent, Receives: l.Receives, File: dir.File(l.ID), State: l.State(),
		Group: personal.Text(l.Group), Edited: l.Original != nil,
		Today: shownToday{Verdict: today.Verdict.String(), Reason: string(today.Reason),
			Detail: personal.Detail(today.Reason, today.Detail)},
		Body: personal.Data(l.Sends())}
	if l.Note != nil {
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
		if today.Item != nil {
			r.Today.shownKey = keyOf(personal.Item(*today.Item))
		}
		r.Stored, r.Differences = bothOf(today, personal)
		return r
	}
	positions := l.Positions()
	for i := range today.Events {
		of := &today.Events[i]
		one := shownOne{Position: i, shownToday: shownToday{Verdict: of.Verdict.String(), Reason: string(of.Reason),
			Detail: personal.Detail(of.Reason, of.Detail)}}
		if positions != nil {
			one.Position = positions[i]
		}
		if of.Item != nil {
			one.shownKey = keyOf(personal.Item(*of.Item))
		}
		one.Stored, one.Differences = bothOf(of, personal)
		r.Events = append(r.Events, one)
	}
	return r
}

// bothOf returns the stored event, and the members in which it differs from the message.
func bothOf(today *quarantine.Today, personal show.Personal) (stored *shownEvent, list []shownDifference) {
	if today.Stored != nil {
		item := personal.Item(*today.Stored)
		stored = &shownEvent{keyOf(item), item.Data, item.Payload != nil}
	}
	for _, d := range today.Differences {
		list = append(list, shownDifference{d.Name(), personal.Member(d.Name(), d.Stored), personal.Member(d.Name(), d.Message)})
	}
	return stored, list
}

func keyOf(item event.Item) shownKey {
	return shownKey{Type: item.Type, ID: item.ID, PK: item.Key.PK, SK: item.Key.SK, Digest: item.Digest.String(),
		At: item.At.UTC().Format(time.RFC3339Nano)}
}

// These are how much of a text people see.
const (
	maxBody  = 2000
	maxValue = 60
)

func abridged(text string, most int) string {
	if len(text) <= most {
		return show.Text(text)
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return show.Text(text[:end]) + fmt.Sprintf("… (%s bytes, whole with --output json)", show.Comma(len(text)))
}

// print writes the report for people. same are the flags with which another command reaches the
// same stack.
func (r *shown) print(w io.Writer, path, same string, flagged []string) {
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
	if r.Verdict != "" {
		row("why", fmt.Sprintf("%s (%s)", show.Text(r.Verdict), show.Text(r.Reason)))
		row("", abridged(r.Detail, maxBody))
	}
	today := r.Today.Verdict
	if r.Today.Reason != "" {
		today += " (" + r.Today.Reason + ")"
	}
	row("today", today)
	if r.Today.Detail != r.Detail {
		row("", abridged(r.Today.Detail, maxBody))
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
func (r *shown) printEvents(w io.Writer) {
	for _, one := range r.Events {
		today := one.Verdict
		if one.Reason != "" {
			today += " (" + one.Reason + ")"
		}
		fmt.Fprintf(w, "\nevent [%d]  %s\n", one.Position, today)
		if one.Detail != "" {
			fmt.Fprintf(w, "  %s\n", abridged(one.Detail, maxBody))
		}
		if one.PK != "" {
			fmt.Fprintf(w, "  %s  %s  %s\n", show.Text(one.Type), show.Text(one.PK), show.Text(one.SK))
		}
		if one.Stored == nil {
			continue
		}
		t := show.NewTable()
		t.Row("", "stored", "message")
		t.Row("digest", one.Stored.Digest[:16]+"…", one.Digest[:16]+"…")
		t.Row("time", one.Stored.At, one.At)
		for _, d := range one.Differences {
			t.Row(show.Text(d.Path), missing(d.Stored), missing(d.Message))
		}
		t.Print(w)
	}
	if len(r.Events) > 0 {
		fmt.Fprintln(w)
	}
}

func (r *shown) printBoth(w io.Writer, row func(label, value string)) {
	if r.Stored == nil {
		row("body", abridged(r.Body, maxBody))
		return
	}
	fmt.Fprintln(w)
	t := show.NewTable()
	t.Row("", "stored", "message")
	t.Row("digest", r.Stored.Digest[:16]+"…", r.Today.Digest[:16]+"…")
	t.Row("time", r.Stored.At, r.Today.At)
	for _, d := range r.Differences {
		t.Row(show.Text(d.Path), missing(d.Stored), missing(d.Message))
	}
	t.Print(w)
	fmt.Fprintln(w)
	stored := "stored"
	if r.Stored.Elsewhere {
		stored = "in the item" // the payload is in the payload bucket
	}
	row(stored, abridged(r.Stored.Data, maxBody))
	row("message", abridged(r.Body, maxBody))
}

func missing(value string) string {
	if value == "" {
		return "(missing)"
	}
	return abridged(value, maxValue)
}
