package tables

import (
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// StoredTotal is one item of the aggregates table. It is a whole total or, if the aggregate
// declares spread, one of the buckets that a question for totals adds up.
type StoredTotal struct {
	Address   aggregate.Address
	Values    map[string]event.Decimal
	Texts     map[string]string // values whose operation is [aggregate.Op.Textual], as amounts have them; nil if there are none
	N         int64             // contributions counted and not taken back
	FP, FPX   event.Decimal     // the fingerprint of these contributions, and the expired part of it
	Flag      string            // why the values are not proven; empty if they are
	Accepted  string            // when and by whom a flag was accepted, and the flag; empty if none was
	Large     string            // the warning that the item may soon be too large for updates; empty if there is none
	ExpiresAt int64             // epoch seconds; 0: never
	Marks     int               // lanes whose marks it carries
	// Rank is the item's partition in the index that ranks totals, and Score is the copy of the
	// value that it is ranked by. They are empty and nil if the total is not ranked.
	Rank  string
	Score *event.Decimal
}

// Flags returns why the values are not proven, and the warning that the item is large.
func (t *StoredTotal) Flags() (list []string) { return flagTexts(t.Flag, t.Accepted, t.Large) }

func flagTexts(flag, accepted, more string) (list []string) {
	if accepted != "" {
		accepted = "accepted " + accepted
	}
	return slices.DeleteFunc([]string{flag, accepted, more}, func(text string) bool { return text == "" })
}

// LargeTotal is the size in bytes from which an aggregate item says that it is large. From
// [event.MaxItem] the table refuses its updates for good. It takes a while until marks fill the
// space between the two sizes.
const LargeTotal = 300 << 10
