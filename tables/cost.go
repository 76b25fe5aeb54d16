package tables

import (
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

// Cost is what calls have used of DynamoDB. Units are computed from item sizes by the service's
// published rules, not taken from answers, because the service reports none for requests that fail
// as a whole. A replacement is the exception: its price depends on an item that is not read as a
// whole, so the number is taken from the answer.
//
// Units are a lower bound where something cannot be known: whether a request without an answer was
// charged, the cost of a statement that was refused for good, the sizes of the items that a
// receipt's transaction met, and how much an aggregate item has grown since it was last read.
//
// Units are a guess for an item that was read to be judged. Its id, index keys, meta and declared
// attributes are not read. Its payload is read only if it has another digest than the event that
// met it. The parts that are not read are assumed to be as large as the event's own. This is right
// for a Duplicate, unless the pipeline or the spelling has changed. For another revision it may be
// wrong.
//
// Indexes are assumed to project all attributes, as those of template.yaml do.
type Cost struct {
	Requests   int
	WriteUnits float64
	ReadUnits  float64
	// Retries are requests or statements that were sent again after a refusal or a lost answer.
	Retries int
	// Conflicts are transactions that were refused because another request held one of their items.
	Conflicts int
	// Objects are payloads that were put into the payload bucket, read or deleted there. Repeated
	// tries are not counted.
	Objects int
	// Throttles are refusals for capacity, by the reason that the service names.
	Throttles map[string]int
	// Hot counts refusals for capacity by the partitions that the refused items belong to, as far
	// as it is known which items these are. It holds at most 1,000 partitions.
	Hot map[Partition]int
}

// Partition is a partition of a table or of an index.
type Partition struct {
	Of    string // the event type, or the aggregate, of the items that were refused
	Index string // empty: the table's own key
	Key   string // the partition key
}

// mostHot bounds the memory of a batch of which everything is refused.
const mostHot = 1000

// Add adds the cost of another call.
func (c *Cost) Add(other Cost) {
	c.Requests += other.Requests
	c.WriteUnits += other.WriteUnits
	c.ReadUnits += other.ReadUnits
	c.Retries += other.Retries
	c.Conflicts += other.Conflicts
	c.Objects += other.Objects
	for reason, n := range other.Throttles {
		c.Throttle(reason, n)
	}
	for partition, n := range other.Hot {
		c.refused(partition, n)
	}
}

// RefusedItem counts that an item was refused for capacity. If the reason names an index, the
// partition is one of it. Otherwise the service has not said where capacity is missing, and the
// item's partitions in the table and in all indexes are counted: where one is hot, the refused
// items have it in common.
func (c *Cost) RefusedItem(item *event.Item, reason string) {
	_, index, named := strings.Cut(reason, "/index/")
	if !named {
		c.refused(Partition{item.Type, "", item.Key.PK}, 1)
	}
	for _, in := range item.Indexes {
		if !named || in.Name == index {
			c.refused(Partition{item.Type, in.Name, in.Key.PK}, 1)
		}
	}
}

// RefusedTotal counts that a total of the aggregate was refused for capacity.
func (c *Cost) RefusedTotal(aggregate string, key event.Key) {
	c.refused(Partition{aggregate, "", key.PK}, 1)
}

func (c *Cost) refused(partition Partition, n int) {
	if c.Hot == nil {
		c.Hot = map[Partition]int{}
	}
	if _, known := c.Hot[partition]; known || len(c.Hot) < mostHot {
		c.Hot[partition] += n
	}
}

func (c *Cost) Throttle(reason string, n int) {
	if c.Throttles == nil {
		c.Throttles = map[string]int{}
	}
	c.Throttles[reason] += n
}

// Read counts the reading of an item of size bytes.
func (c *Cost) Read(size int) { c.ReadUnits += itemform.ReadUnits(size) }

// Look counts the reading of an item of size bytes. A read that is not consistent costs half.
func (c *Cost) Look(size int, consistent bool) {
	if consistent {
		c.Read(size)
		return
	}
	c.ReadUnits += itemform.ReadUnits(size) / 2
}
