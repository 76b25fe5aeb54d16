package store

import "github.com/ingot-events/ingot/event"

// Cost is what calls asked of DynamoDB. Units are counted by the service's published rules from item sizes,
// not taken from answers: the service reports none for requests that fail whole. (A replacement is the exception: its
// price depends on an item that is not read whole, so the service is asked.)
//
// They are a lower bound where something cannot be known: whether a request without an answer was charged, what a
// statement cost that was refused for what it is, what a receipt's transaction met, and an aggregate item that grew
// since it was last seen.
//
// They are a guess for an item that was read to be judged. Its id, index keys, meta and declared attributes are not
// read, and its payload only if it has another digest than the event that met it. What is not read is taken to be as
// large as the event's own. For a Duplicate that is so, unless the pipeline or the spelling has changed; for another
// revision it may not be.
//
// Indexes are taken to project all attributes, as those of template.yaml do.
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

// read counts reading an item of size bytes.
func (c *Cost) read(size int) { c.ReadUnits += readUnits(size) }

// readUnits is what a consistent read of size bytes costs: a unit per started 4 KB.
func readUnits(size int) float64 { return float64(max(1, (size+4095)/4096)) }

// look counts reading an item of size bytes, consistently or for half the price.
func (c *Cost) look(size int, consistent bool) {
	if consistent {
		c.read(size)
		return
	}
	c.ReadUnits += float64(max(1, (size+4095)/4096)) / 2
}

// insertUnits is what storing a new item costs: its started kilobytes on the table and on each index it is in.
func insertUnits(item *event.Item) float64 {
	return float64(event.WriteUnits(item.Size()) * (1 + len(item.Indexes)))
}

// replaceUnits is what putting item over what is stored costs: on the table the larger of both; on an index the larger
// of both where the item keeps its place, both where it moves, and the one that is there where it comes or goes.
func replaceUnits(old *stored, item *event.Item) float64 {
	was, is := event.WriteUnits(old.size), event.WriteUnits(item.Size())
	places := make(map[string]event.Key, len(item.Indexes))
	for _, index := range old.places(item) {
		places[index.Name] = index.Key
	}
	units := max(was, is)
	for _, index := range item.Indexes {
		switch place, there := places[index.Name]; {
		case !there:
			units += is
		case place == index.Key:
			units += max(was, is)
		default:
			units += was + is
		}
		delete(places, index.Name)
	}
	return float64(units + was*len(places))
}
