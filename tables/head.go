package tables

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Head is what the aggregates table says about one generation.
type Head struct {
	Definition string // canonical text
	Digest     string
	Counting   string
	Spread     int
	// Building says that the generation may not have counted all older items yet. A rebuild adds
	// them.
	Building bool
	// Behind changes when an image stamped below the generation comes in, at least once in each
	// pass. See [github.com/ingot-events/ingot/store/repair.Repairer.BeginPass].
	Behind int64
	// Pass is the number of the latest touch pass. 0 means that none has begun.
	Pass int64
	// Retired is the epoch of the first pipeline that no longer declared the generation. Functions
	// of this epoch or a later one have counted nothing in it. 0 means that it counts.
	Retired int64
	// Before is the since of the generation that this one has replaced, until this one is complete
	// for the first time. 0 means that there is none.
	Before int64
	// KeyCheck identifies the secret of its hmac: see [aggregate.Definition]. It is empty if the
	// generation uses no hmac.
	KeyCheck string
	// Unclosed says that events that expire when they should do not close the totals of the
	// generation. It is decided when the generation begins, and does not change.
	Unclosed bool
	// Retains has the shortest time that an event of each type has lived under any pipeline.yaml
	// that a streams function has started with, if the generation is unclosed. A type that is
	// missing has lived for ever.
	Retains  map[string]time.Duration
	Flag     string
	Accepted string // when and by whom a flag was accepted, and the flag; empty if none was
}

// Check returns an error if the head belongs to a different definition. A reader with a different
// definition would see missing events or damage where there is only a mistake in pipeline.yaml. The
// way of counting is not compared, because reading does not depend on it.
func (h *Head) Check(d *aggregate.Definition) error {
	if what := h.Differs(d); what != "" {
		return fmt.Errorf("aggregate %s %s; go back to the pipeline.yaml and the INGOT_PII_KEY that the streams function runs with", d,
			what)
	}
	return nil
}

// Differs says how a definition differs from what the head says. The text is empty if there is no
// difference.
func (h *Head) Differs(d *aggregate.Definition) string {
	switch {
	case h.OtherSecret(d):
		return "is grouped by hmac with another secret in the table than INGOT_PII_KEY"
	case h.Digest != lanes.Digest(d):
		return "is declared differently in pipeline.yaml and in the table"
	case h.Spread != d.Spread:
		return fmt.Sprintf("is spread over %d in the table, not %d", h.Spread, d.Spread)
	}
	return ""
}

// OtherSecret reports whether the totals are grouped by hashes of another secret, or of one that is
// not known here. If only one of the two definitions has hashes, their texts differ.
func (h *Head) OtherSecret(d *aggregate.Definition) bool {
	if h.KeyCheck == "" || d.KeyCheck == "" {
		return h.KeyCheck != d.KeyCheck && h.Digest == lanes.Digest(d)
	}
	return h.KeyCheck != d.KeyCheck
}

// Flags returns the reasons why no total of the generation is proven.
func (h *Head) Flags() (list []string) {
	retired := ""
	if h.Retired > 0 {
		retired = fmt.Sprintf("taken out of the pipeline at epoch %d: that one and newer ones do not count it", h.Retired)
	}
	return flagTexts(h.Flag, h.Accepted, retired)
}

// Pass is a touch pass over a generation, from
// [github.com/ingot-events/ingot/store/repair.Repairer.BeginPass] to
// [github.com/ingot-events/ingot/verify.Finish]. A program that stops in between can keep the two
// fields, and make the Pass from them again.
type Pass struct {
	Definition *aggregate.Definition
	// Behind is what the head's Behind was at the beginning. It changes if an item is stored below
	// the generation after that. Then the pass cannot be finished, and another one must begin.
	Behind int64
}
