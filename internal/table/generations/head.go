package generations

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Heads reads and writes the heads of generations.
type Heads struct {
	*rows.Tables
	how     aggregate.Counting // of new generations
	flagged RecentHeads
	newer   atomic.Pointer[[]*aggregate.Definition] // found by Start
	sure    atomic.Bool                             // CheckSecret has succeeded
	looked  atomic.Int64                            // when Start or Renew found it, in unix nanoseconds; 0: never
	known   atomic.Pointer[string]                  // what E# said then
	file    atomic.Pointer[keptFile]                // the deployed file, as Start found it; nil: it has not run
}

// New returns the generations of these tables. It sends no request.
func New(t *rows.Tables, c rows.Config) *Heads {
	return &Heads{Tables: t, how: c.Counting}
}

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
	// pass. See [Store.BeginPass].
	Behind int64
	// Pass is the number of the latest touch pass. 0 means that none has begun.
	Pass int64
	// Retired is the epoch of the first pipeline that no longer declared the generation. Functions
	// of this epoch or a later one have counted nothing in it. 0 means that it counts.
	Retired int64
	// KeyCheck identifies the secret of its hmac: see [aggregate.Definition]. It is empty if the
	// generation uses no hmac.
	KeyCheck string
	Flag     string
	Accepted string // when and by whom a flag was accepted, and the flag; empty if none was
}

func headImage(d *aggregate.Definition, counting aggregate.Counting, building bool) rows.Image {
	img := rows.KeyImage(lanes.HeadKey(d))
	img["definition"], img["digest"], img["counting"] = rows.Text(d.Text), rows.Text(lanes.Digest(d)), rows.Text(counting.String())
	img["spread"], img["behind"] = rows.Integer(int64(d.Spread)), rows.Integer(0)
	img["building"] = &types.AttributeValueMemberBOOL{Value: building}
	if d.KeyCheck != "" {
		img["keyCheck"] = rows.Text(d.KeyCheck)
	}
	return img
}

func ReadHead(img rows.Image) *Head {
	h := &Head{Definition: rows.TextOf(img["definition"]), Digest: rows.TextOf(img["digest"]), Counting: rows.TextOf(img["counting"]),
		Spread: int(rows.IntegerOf(img["spread"])), Behind: rows.IntegerOf(img["behind"]), Pass: rows.IntegerOf(img["pass"]),
		Retired: rows.IntegerOf(img["retired"]), KeyCheck: rows.TextOf(img["keyCheck"]), Flag: rows.TextOf(img["flag"]),
		Accepted: rows.TextOf(img[rows.AcceptedAttribute])}
	if b, ok := img["building"].(*types.AttributeValueMemberBOOL); ok {
		h.Building = b.Value
	}
	return h
}

// Check returns an error if the head belongs to a different definition. A reader with a different
// definition would see missing events or damage where there is only a mistake in pipeline.yaml. The
// way of counting is not compared, because reading does not depend on it.
func (h *Head) Check(d *aggregate.Definition) error {
	if what := h.differs(d); what != "" {
		return fmt.Errorf("aggregate %s %s; go back to the pipeline.yaml and the INGOT_PII_KEY that the streams function runs with", d,
			what)
	}
	return nil
}

// differs says how a definition differs from what the head says. The text is empty if there is no
// difference.
func (h *Head) differs(d *aggregate.Definition) string {
	switch {
	case h.otherSecret(d):
		return "is grouped by hmac with another secret in the table than INGOT_PII_KEY"
	case h.Digest != lanes.Digest(d):
		return "is declared differently in pipeline.yaml and in the table"
	case h.Spread != d.Spread:
		return fmt.Sprintf("is spread over %d in the table, not %d", h.Spread, d.Spread)
	}
	return ""
}

// otherSecret reports whether the totals are grouped by hashes of another secret, or of one that is
// not known here. If only one of the two definitions has hashes, their texts differ.
func (h *Head) otherSecret(d *aggregate.Definition) bool {
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
	return rows.Flags(h.Flag, h.Accepted, retired)
}

// Head does what [Store.Head] says.
func (s *Heads) Head(ctx context.Context, d *aggregate.Definition) (*Head, error) {
	img, err := s.Get(ctx, lanes.HeadKey(d))
	if err != nil {
		return nil, fmt.Errorf("head of aggregate %s: %w", d, err)
	}
	if len(img) == 0 {
		return nil, nil
	}
	return ReadHead(img), nil
}

// Counting returns how this store's generations are counted.
func (s *Heads) Counting() aggregate.Counting { return s.how }
