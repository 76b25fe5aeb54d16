package planner

import (
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/values"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/keys"
)

// Planner plans events, and what stored items add to totals. A pipeline fills it in. It is not
// changed afterwards.
type Planner struct {
	Epoch    int64            // stamped on the items
	TypeFrom []*keys.Template // the first one whose fields all exist decides; empty: only an envelope says the type
	// TypeFirst says that TypeFrom goes before the type of an envelope, which it reads itself.
	TypeFirst bool
	Batches   []envelope.Batch // where a message may hold several events
	Drop      []Drop           // the types that nobody wants
	Types     map[string]*Type // by name
	Names     []string         // of types, in byte order
	Secret    []byte           // of hmac
}

// Type is one compiled event type.
type Type struct {
	Name       string
	ID, At     *keys.Template // nil: those of the envelope
	PK, SK     *keys.Template
	Indexes    []Index // by name, in byte order
	Attributes []Attribute
	Retain     time.Duration  // 0: never expires
	Was        []lifetime.Was // earlier, shorter ones, by time
	Expires    []Expiry       // what shortens it; all but those without Before are earlier ones
	Latest     bool
	Revision   []Revision // under latest; all but the first break ties
	Ignore     []event.Path
	Folds      []keys.Fold // what the id shows without its spelling
	Meta       []Meta
	Feeds      []Feed  // by aggregate name
	SchemaText string  // empty: there is none
	Schema     schema  // nil: there is none, or nothing is planned
	Part       *Part   // what it is a part of; nil: it comes from the queue by itself
	Parts      []*Type // its parts, by name
	Moved      int     // how many of feeds are moved by its put
	Requires   []Require
	Migrated   string // the migration that copies rows into it; empty: none does
	Atomic     bool   // it is put together with its parts, in one transaction
	Compress   bool
	Pack       func(string) []byte // nil: payloads are stored as they are, or nothing is planned
	Over       int64               // payloads of more bytes go to the payload bucket; 0: none does
	Keep       []event.Path        // what their items keep beside what the pipeline uses
	Kept       func() *Kept        // all that their items keep
}

// Expiry is the time in a payload at which an event expires.
type Expiry struct {
	At     *keys.Template
	Before time.Time // an earlier declaration, for events whose own time is before this; zero: today's
}

// Drop is the name of a type that nobody wants, or the beginning and the end of such names.
type Drop struct {
	Before, After string
	All           bool // anything may stand between the two; otherwise Before is the name
}

// ParseDrop reads an entry of drop.
func ParseDrop(text string) Drop {
	before, after, all := strings.Cut(text, "*")
	return Drop{before, after, all}
}

// Names reports whether the type of this name is not wanted.
func (d Drop) Names(name string) bool {
	if !d.All {
		return name == d.Before
	}
	return len(name) >= len(d.Before)+len(d.After) && strings.HasPrefix(name, d.Before) && strings.HasSuffix(name, d.After)
}

// String returns the entry as it is written in the file.
func (d Drop) String() string {
	if d.All {
		return d.Before + "*" + d.After
	}
	return d.Before
}

// Part says how a part is made from its whole.
type Part struct {
	Whole *Type
	Each  event.Path      // to the array; without steps: there is one part
	With  []envelope.With // values of the whole's payload that it has too
	Claim bool            // its key does not show the id of the whole, so only one whole can have it
}

// OfWhole returns where a value of the part's payload is in that of the whole, if with names it.
func (p *Part) OfWhole(path event.Path) (event.Path, bool) {
	for _, with := range p.With {
		if moved, ok := path.Moved(event.Path{}.Member(with.Name), with.Path); ok {
			return moved, true
		}
	}
	return event.Path{}, false
}

// InPart returns where a value of the whole's payload is in that of the part, if with names it.
func (p *Part) InPart(path event.Path) (event.Path, bool) {
	for _, with := range p.With {
		if moved, ok := path.Moved(with.Path, event.Path{}.Member(with.Name)); ok {
			return moved, true
		}
	}
	return event.Path{}, false
}

// Index is a secondary index that items of a type may be in.
type Index struct {
	Name   string
	PK, SK *keys.Template
	Where  *where.Condition // nil: every event
	Was    []*keys.Template // what pk was earlier
}

// Attribute is a field of the payload that the item has as an attribute.
type Attribute struct {
	Name string
	Path event.Path
}

// Revision is one of the values that order the versions of a key.
type Revision struct {
	Path     event.Path
	Time     bool           // a time, stored as unix nanoseconds; false: a number
	Template *keys.Template // makes the value, in place of Path: one variable
}

// Meta is a derived value that is kept with the item, because a template uses it.
type Meta struct {
	Stored    string // "source" or "attribute.NAME"
	Attribute string // NAME; empty for the source
}

// Feed is what one event type adds to one aggregate.
type Feed struct {
	Def    *aggregate.Definition
	By     []*keys.Template // in def.By order
	Where  *where.Condition // nil: every event
	Values []values.Value   // aligned with def.Values
	Fixed  int              // length in bytes of the total's partition key without the values of by
	Listed int              // likewise of its partition of the index of ranked totals; 0: no value of by is in it
}

// String returns the revision as it is written in the file.
func (r Revision) String() string {
	if r.Template != nil {
		return r.Template.Canonical()
	}
	if r.Time {
		return r.Path.String() + " time"
	}
	return r.Path.String() + " number"
}
