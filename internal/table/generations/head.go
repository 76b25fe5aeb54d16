package generations

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Heads reads and writes the heads of generations.
type Heads struct {
	*rows.Tables
	how      aggregate.Counting // of new generations
	flagged  RecentHeads
	newer    atomic.Pointer[[]*aggregate.Definition]        // found by Start
	unclosed atomic.Pointer[map[*aggregate.Definition]bool] // likewise
	sure     atomic.Bool                                    // CheckSecret has succeeded
	region   string                                         // empty: there is no home to keep
	atHome   atomic.Int64                                   // when CheckHome has succeeded, in unix nanoseconds; 0: never
	looked   atomic.Int64                                   // when Start or Renew found it, in unix nanoseconds; 0: never
	known    atomic.Pointer[string]                         // what E# said then
	file     atomic.Pointer[keptFile]                       // the deployed file, as Start found it; nil: it has not run
}

// New returns the generations of these tables. It sends no request.
func New(t *rows.Tables, c tables.Config) *Heads {
	return &Heads{Tables: t, how: c.Counting, region: c.Region}
}

// headImage returns the head of a new generation. retired are the generations that end as it
// begins.
func headImage(d *aggregate.Definition, counting aggregate.Counting, building, unclosed bool, retired []*aggregate.Definition) rows.Image {
	img := rows.KeyImage(lanes.HeadKey(d))
	img["definition"], img["digest"], img["counting"] = rows.Text(d.Text), rows.Text(lanes.Digest(d)), rows.Text(counting.String())
	img["spread"], img["behind"] = rows.Integer(int64(d.Spread)), rows.Integer(0)
	img["building"] = &types.AttributeValueMemberBOOL{Value: building}
	if unclosed {
		img["unclosed"] = &types.AttributeValueMemberBOOL{Value: true}
	}
	if d.KeyCheck != "" {
		img["keyCheck"] = rows.Text(d.KeyCheck)
	}
	for _, old := range retired {
		if old.Name == d.Name {
			img["before"] = rows.Integer(old.Since)
		}
	}
	return img
}

func ReadHead(img rows.Image) *tables.Head {
	h := &tables.Head{Definition: rows.TextOf(img["definition"]), Digest: rows.TextOf(img["digest"]),
		Counting: rows.TextOf(img["counting"]),
		Spread:   int(rows.IntegerOf(img["spread"])), Behind: rows.IntegerOf(img["behind"]), Pass: rows.IntegerOf(img["pass"]),
		Retired: rows.IntegerOf(img["retired"]), Before: rows.IntegerOf(img["before"]), KeyCheck: rows.TextOf(img["keyCheck"]),
		Flag:     rows.TextOf(img["flag"]),
		Accepted: rows.TextOf(img[rows.AcceptedAttribute]), Retains: map[string]time.Duration{}}
	if b, ok := img["building"].(*types.AttributeValueMemberBOOL); ok {
		h.Building = b.Value
	}
	_, h.Unclosed = img["unclosed"]
	for name, v := range img {
		if typ, is := strings.CutPrefix(name, retainPrefix); is {
			h.Retains[typ] = time.Duration(rows.IntegerOf(v)) * time.Second
		}
	}
	return h
}

// retainPrefix begins the name of an attribute of a head, and an event type ends it.
const retainPrefix = "retain:"

// keepRetains notes on the heads of unclosed generations how long events live at the least, for
// each type for which this is less than its head says. So what has left a total follows from the
// head, even if a later file does not say how short events lived once. The condition of the write
// lets no note grow. If it fails, another start has written, and the next try reads the head again.
func (s *Heads) keepRetains(ctx context.Context, t *roster) error {
	for _, d := range s.Pipeline.Definitions() {
		head := t.heads[lanes.HeadKey(d)]
		if head == nil || !head.Unclosed {
			continue
		}
		unclosed := rows.Operand{Name: "unclosed", Placeholder: ":u", Value: &types.AttributeValueMemberBOOL{Value: true}}
		e := &rows.Edit{Guards: []rows.Guard{{Operand: unclosed, Sign: "="}}}
		for typ, retain := range s.Pipeline.Retains(d, time.Time{}) {
			if lifetime.Shorter(retain, head.Retains[typ]) {
				o := rows.Operand{Name: retainPrefix + typ, Placeholder: fmt.Sprint(":r", len(e.Sets)),
					Value: rows.Integer(int64(retain / time.Second))}
				e.Sets = append(e.Sets, rows.Assignment{Operand: o})
				e.Guards = append(e.Guards, rows.Guard{Operand: o, Sign: ">", OrMissing: true})
			}
		}
		if len(e.Sets) > 0 {
			if _, err := s.Client.UpdateItem(ctx, rows.Request(e.Update(&s.Aggregates, lanes.HeadKey(d)))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Head does what Store.Head says.
func (s *Heads) Head(ctx context.Context, d *aggregate.Definition) (*tables.Head, error) {
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

// GivenUp reports whether an operator has given up a stream record, by an item at
// [lanes.GivenUpKey]. It is only called for a record that would make its batch fail again and
// again.
func (s *Heads) GivenUp(ctx context.Context, lane event.Lane, sequence event.Sequence) (bool, tables.Cost, error) {
	cost := tables.Cost{Requests: 1}
	img, err := s.Get(ctx, lanes.GivenUpKey(lane, sequence))
	cost.Read(rows.ImageSize(img))
	return len(img) > 0, cost, awserr.Quiet(err)
}
