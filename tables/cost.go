package tables

import "github.com/ingot-events/ingot/internal/base/itemform"

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
}

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
