package migrate

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// Plan says what some rows become, what each step takes, what it proves, and how to undo it.
type Plan struct {
	Table  string  `json:"table"`
	Stream string  `json:"stream,omitempty"`
	Items  int64   `json:"items"`
	Sample *Sample `json:"sample"`
	Steps  []Step  `json:"steps"`
	// Missing says what must be done before capture can begin.
	Missing []string `json:"missing,omitempty"`
}

// Step is one of them.
type Step struct {
	Name   string  `json:"name"`
	Reads  float64 `json:"readUnits"`
	Writes float64 `json:"writeUnits"`
	// Dollars is absent if a price is not known. Changes of rows while the step lasts are not in
	// it.
	Dollars *float64 `json:"dollars,omitempty"`
	Hours   float64  `json:"hours"` // at Rate writes a second, or the same number of reads
	Proves  string   `json:"proves"`
	Undo    string   `json:"undo"`
}

// quarantineHours is how long the quarantine queue of template.yaml keeps a message.
const quarantineHours = 14 * 24

// PlanOf extrapolates a sample to the whole table. rate is how many write units a second are used.
func PlanOf(m *rowmap.Mapping, old *migrate.Table, s *Sample, prices *cost.Prices, rate float64) *Plan {
	items := max(old.Items, int64(s.Rows))
	if s.all {
		items = int64(s.Rows)
	}
	share := float64(items) / float64(max(1, s.Rows))
	scan := share * float64(s.RowBytes) / 4096 // consistent
	writes := share * float64(s.Units)
	moved := 0
	for _, n := range s.Moved {
		moved += n
	}
	copies := share * float64(moved)
	p := &Plan{Table: old.Table, Stream: old.Stream, Items: items, Sample: s}
	if old.Stream == "" {
		p.Missing = append(p.Missing, "the table has no stream: switch one on, with new and old images, before capture begins")
	} else if old.Images == "KEYS_ONLY" || old.Images == "NEW_IMAGE" {
		p.Missing = append(p.Missing, "the stream has "+old.Images+" images: a row that moves to another key or is deleted is found only by a "+
			"later pass, unless its new key follows from its old one; NEW_AND_OLD_IMAGES finds it at once")
	}
	step := func(name string, reads, writes float64, proves, undo string) {
		p.Steps = append(p.Steps, Step{Name: name, Reads: reads, Writes: writes, Proves: proves, Undo: undo,
			Dollars: prices.Units(reads, writes), Hours: max(reads, writes) / rate / 3600})
	}
	step("capture", 0, 0, "each change of a row reaches its copy; a deleted row leaves a tombstone until retire. One batch of a shard is "+
		"in work at a time: about 1,000 changes a second for each shard",
		"switch it off; nothing reads the copies")
	step("backfill", scan, writes, "every row has a copy, or a reason why it has none", "nothing reads the copies")
	step("compare", scan+copies/4, 0, "copies and rows are equal, while both change", "nothing was changed")
	step("read", 0, 0, "a service gets from the new table what the old one has", "its Reader takes an earlier stage at once")
	undo := "there is no way back once messages are stored: migration.yaml has no back"
	if m.GoesBack() {
		undo = "`ingot migrate back`; producers stand still for a quarter of an hour"
	}
	step("turn", copies/4, writes, "totals are exact once rebuilt", undo)
	if turn := p.Steps[len(p.Steps)-1]; turn.Hours > quarantineHours {
		p.Missing = append(p.Missing, fmt.Sprintf("the rebuild after the turn takes %.0f hours at this rate, and quarantine keeps messages "+
			"for %d: raise --rate, and what the tables take", turn.Hours, quarantineHours))
	}
	step("retire", 0, 0, "nothing needs the old table any more", "the old table stays until you delete it")
	return p
}

// Write writes the plan for people.
func (p *Plan) Write(w io.Writer) {
	s := p.Sample
	fmt.Fprintf(w, "table %s: %s rows; %s of them were read\n", p.Table, show.Comma(int(p.Items)), show.Comma(s.Rows))
	for _, typ := range slices.Sorted(maps.Keys(s.Moved)) {
		fmt.Fprintf(w, "  %8d become %s\n", s.Moved[typ], typ)
	}
	for _, why := range slices.Sorted(maps.Keys(s.Skipped)) {
		fmt.Fprintf(w, "  %8d are skipped: %s\n", s.Skipped[why], why)
	}
	for _, why := range slices.Sorted(maps.Keys(s.Refused)) {
		fmt.Fprintf(w, "  %8d are refused: %s\n", s.Refused[why], why)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Untaken)) {
		fmt.Fprintf(w, "  %8d have %s, which no template takes: it is in no event\n", s.Untaken[name], show.Text(name))
	}
	if s.Collisions > 0 {
		fmt.Fprintf(w, "  %8d meet another row on one key\n", s.Collisions)
	}
	writeNamed(w, s.Named)
	fmt.Fprintf(w, "\n%-10s %14s %14s %10s %8s  %s\n", "step", "read units", "write units", "dollars", "hours", "what it proves")
	for _, of := range p.Steps {
		dollars := "?"
		if of.Dollars != nil {
			dollars = fmt.Sprintf("%.2f", *of.Dollars)
		}
		fmt.Fprintf(w, "%-10s %14.0f %14.0f %10s %8.1f  %s\n", of.Name, of.Reads, of.Writes, dollars, of.Hours, of.Proves)
		fmt.Fprintf(w, "%61s to undo it: %s\n", "", of.Undo)
	}
	for _, missing := range p.Missing {
		fmt.Fprintf(w, "\nfirst: %s\n", missing)
	}
}
