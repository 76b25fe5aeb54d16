package store

import "github.com/ingot-events/ingot/event"

// Cost is what calls asked of DynamoDB. Units are counted by the service's published rules from item sizes,
// not taken from answers: the service reports none for requests that fail whole.
type Cost struct {
	Requests   int
	WriteUnits float64
	ReadUnits  float64
	// Retries are requests or statements sent again after a refusal or a lost answer.
	Retries int
	// Throttles are refusals for capacity by reason, as the service names it.
	Throttles map[string]int
}

// Add adds another call's cost.
func (c *Cost) Add(other Cost) {
	c.Requests += other.Requests
	c.WriteUnits += other.WriteUnits
	c.ReadUnits += other.ReadUnits
	c.Retries += other.Retries
	for reason, n := range other.Throttles {
		c.throttle(reason, n)
	}
}

func (c *Cost) throttle(reason string, n int) {
	if c.Throttles == nil {
		c.Throttles = map[string]int{}
	}
	c.Throttles[reason] += n
}

// read counts reading an item of size bytes: a consistent read takes a unit per started 4 KB.
func (c *Cost) read(size int) { c.ReadUnits += float64(max(1, (size+4095)/4096)) }

// putUnits is what storing an item costs: its started kilobytes on the table and on each index it is in.
func putUnits(item *event.Item) float64 {
	return float64(event.WriteUnits(item.Size()) * (1 + len(item.Indexes)))
}
