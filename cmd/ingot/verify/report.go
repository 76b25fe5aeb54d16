package verify

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/verify"
)

// Verified is the JSON of `ingot verify`.
type Verified struct {
	Items       int          `json:"items"`
	Totals      int          `json:"totals"`
	Partly      int          `json:"partly"`
	Expired     int          `json:"expired,omitempty"`
	Units       float64      `json:"units"`
	Equal       bool         `json:"equal"`
	Differences []Difference `json:"differences"`
	More        int          `json:"more"`
	Building    []string     `json:"building"`
	Flagged     []string     `json:"flagged"`
	Unreadable  []string     `json:"unreadable"`
	Parts       int          `json:"missingParts,omitempty"`
	Copies      int          `json:"copies,omitempty"`
	Unsure      string       `json:"unsure,omitempty"`
}

// Difference is one difference. Damaged is absent without --twice.
type Difference struct {
	show.Total
	What    string `json:"what"`
	Has     string `json:"has"`
	Wants   string `json:"wants"`
	Damaged *bool  `json:"damaged,omitempty"`
}

// reportOf returns what one look has found, or two. Flags and unreadable items hold keys, which
// masks hides.
func reportOf(r *verify.Report, looks *verify.Looks, masks show.Personal) *Verified {
	out := &Verified{Items: r.Items, Totals: r.Totals, Partly: r.Partly, Units: r.Units, Equal: r.OK(), Parts: r.MissingParts,
		Copies: r.Copies, Expired: r.Expired, More: r.More.Differences,
		Differences: []Difference{}, Building: []string{}, Flagged: []string{}, Unreadable: []string{}}
	add := func(list []verify.Difference, damaged *bool) {
		for _, d := range list {
			d = masks.Difference(d)
			out.Differences = append(out.Differences, Difference{show.TotalOf(d.Def, d.By, d.Window), d.What, d.Has, d.Wants, damaged})
		}
	}
	if looks == nil {
		add(r.Differences, nil)
	} else {
		add(looks.Damaged, aws.Bool(true))
		add(looks.Undecided, aws.Bool(false))
		out.Equal, out.Unsure = looks.OK() && r.MissingParts == 0, looks.Unsure
	}
	for _, def := range r.Building {
		out.Building = append(out.Building, def.String())
	}
	for _, text := range r.Flagged {
		out.Flagged = append(out.Flagged, masks.Finding(text))
	}
	for _, text := range r.Unreadable {
		out.Unreadable = append(out.Unreadable, masks.Finding(text))
	}
	return out
}

// write writes the report for people.
func (r *Verified) write(w *strings.Builder) {
	show.Some(w, r.Differences, r.line)
	show.Some(w, r.Flagged, func(s string) string { return "flagged: " + s })
	show.Some(w, r.Building, func(s string) string { return "building: " + s + "; ingot rebuild completes it" })
	if r.Parts > 0 {
		fmt.Fprintf(w, "missing: %s of stored events; if no events flow, ingot rebuild parts puts them\n", show.Count(r.Parts, "part"))
	}
	if r.Copies > 0 {
		fmt.Fprintf(w, "left out: %s of rows, which are events once their type has turned\n", show.Count(r.Copies, "copy"))
	}
	show.Some(w, r.Unreadable, func(s string) string { return "unreadable: " + s })
	result := "no difference"
	if n := len(r.Differences) + r.More; n > 0 {
		result = show.Count(n, "difference")
	}
	line := fmt.Sprintf("%s, %s", show.Count(r.Items, "item"), show.Count(r.Totals, "total"))
	if r.Partly > 0 {
		line += fmt.Sprintf(" (of %s only the fingerprint)", show.Comma(r.Partly))
	}
	if r.Expired > 0 {
		line += fmt.Sprintf(" (of %s only n)", show.Comma(r.Expired))
	}
	fmt.Fprintf(w, "%s: %s\n", line, result)
}

// line returns a difference for people.
func (r *Verified) line(d Difference) string {
	line := d.Total.String()
	switch d.What {
	case "head":
		line += fmt.Sprintf(": its head says that it is %s, and %s; rebuild it", d.Has, d.Wants)
	case "missing":
		line += fmt.Sprintf(": it is missing, and its items add up to %s", d.Wants)
	default:
		line += fmt.Sprintf(": %s is %s, and its items add up to %s", d.What, d.Has, d.Wants)
	}
	switch {
	case d.Damaged == nil:
		return line
	case *d.Damaged:
		return "damaged: " + line
	case r.Unsure != "":
		return "unsure: " + line
	}
	return "in motion: " + line
}
