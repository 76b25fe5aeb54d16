package pipeline

import (
	"fmt"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// These limits of a file follow from DynamoDB's limits of one request. A file within them is never
// refused later.
const (
	// MaxAggregates is how many aggregates one file may declare. A start reads the heads of all of
	// them and the epoch in one BatchGetItem, and writes them in one transaction. Each of the two
	// takes at most 100 items.
	MaxAggregates = 99
	// MaxValues is how many values one aggregate may have. An update writes all of them. For each
	// min and max, its condition has "(attribute_not_exists(#n) OR #n < :v)". An expression has at
	// most 4 KB and 300 operators.
	MaxValues = 50
	// MaxParts is how many parts one message may yield.
	MaxParts = planner.MaxParts
	// maxDefinition bounds the canonical text of one definition, in bytes. A first start writes the
	// heads of all aggregates in one transaction, which holds at most 4 MB.
	maxDefinition = 32 << 10
	// maxMemberName bounds the names of values and by members, in bytes. Each is the name of an
	// attribute, or stands in the definition.
	maxMemberName = 255
	// maxStatement is how many characters one PartiQL statement may have. Events are put by INSERT
	// statements, which name every attribute of the item. If one statement is longer, up to 24
	// other events are refused with it.
	maxStatement = 8192
	// statementFrame and statementName are what the store's statement takes in addition to the
	// names. statementFrame is the part around all of them, for the longest name that a table can
	// have. statementName is the part around each name.
	statementFrame = len(`INSERT INTO "" VALUE {}`) + 255
	statementName  = len(`'': ?, `)
	// maxReceiptTotals is how many totals one change may touch under receipts. The receipt and all
	// of these totals are written in one transaction, of at most 100 items.
	maxReceiptTotals = 99
)

func (c *compiler) countAggregates() {
	if n := len(c.spec.Aggregates); n > MaxAggregates {
		c.Mistake("aggregates",
			fmt.Sprintf(
				"there are %d aggregates, and the streams function begins with one transaction over all of them, of at most 100 items", n),
			fmt.Sprintf("at most %d, and the others over another pair of tables", MaxAggregates))
	}
}

func (c *compiler) countValues(at place, values []aggregate.Value) {
	if n := len(values); n > MaxValues {
		c.Mistake(at,
			fmt.Sprintf("there are %d values, and one update writes all of them, in an expression of at most 4 KB and 300 operators", n),
			fmt.Sprintf("at most %d, and the others in another aggregate with the same by", MaxValues))
	}
}

func (c *compiler) measureDefinition(at place, def *aggregate.Definition) {
	if n := len(def.Text); n > maxDefinition {
		c.Mistake(at, fmt.Sprintf("the definition of %s takes %d bytes, and all definitions must fit one transaction of 4 MB", def.Name, n),
			fmt.Sprintf("at most %d bytes of templates, conditions and values", maxDefinition))
	}
}

// measureStatement checks the length of the statement that puts an item with all of its attributes.
func (c *compiler) measureStatement(at place, t *planner.Type) {
	var names []string
	names = append(names, itemform.OwnAttributes...)
	if t.Over > 0 {
		names = append(names, itemform.Payload)
	}
	if len(t.Revision) > 1 {
		names = append(names, "i:revision")
	}
	if c.hasParts(t.Name) {
		names = append(names, "i:parts")
	}
	for _, i := range t.Indexes {
		names = append(names, i.Name+"PK", i.Name+"SK")
	}
	for _, a := range t.Attributes {
		names = append(names, a.Name)
	}
	n := statementFrame - len(", ")
	for _, name := range names {
		n += statementName + len(name)
	}
	if n > maxStatement {
		c.Mistake(at,
			fmt.Sprintf("the names of the %d attributes of %s make an INSERT statement of up to %d characters, and DynamoDB takes %d",
				len(t.Attributes), t.Name, n, maxStatement),
			fmt.Sprintf("fewer or shorter names, which take %d characters less (each one takes %d more than its own)", n-maxStatement,
				statementName))
	}
}

// FitsReceipts returns an error, in words for people, about the first event type of which one
// change can touch more totals than a transaction can hold together with the change's receipt. It
// returns nil if there is no such type. Under marks each total is written by itself, so there is no
// such limit.
//
// FitsReceipts does not include changes that a person makes by hand to an item under mode insert.
// If such a change moves the item to other totals, it can touch twice as many. If it does not fit,
// it is refused as a whole, quarantined and flagged.
func (p *Pipeline) FitsReceipts() error {
	for _, name := range p.plan.Names {
		t := p.plan.Types[name]
		if n := t.Touches(); n > maxReceiptTotals {
			why := ""
			if n > len(t.Feeds) {
				why = ", because a newer revision can move an event from one total to another of the same aggregate,"
			}
			return fmt.Errorf("one change of event type %s can touch %d totals of %d aggregates%s and under receipts a change and its "+
				"totals are one transaction, of at most %d totals; let fewer aggregates count it, or count by marks",
				name, n, len(t.Feeds), why, maxReceiptTotals)
		}
	}
	return nil
}
