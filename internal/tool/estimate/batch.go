package estimate

import "math"

// objectsInFlight is how many objects a function puts or reads at once.
const objectsInFlight = 8

// These constants say how much a function is given at once, as template.yaml sets it.
const (
	// MostInBatch is the batch size of both mappings.
	MostInBatch = 1000
	// BatchWindow is how many seconds Lambda waits for a batch to fill.
	BatchWindow = 1.0
	// Pollers is how many batches Lambda collects at once from a queue that it keeps up with
	// (Lambda developer guide, "Using Lambda with Amazon SQS").
	Pollers = 5
	// payload is how many bytes Lambda hands over at once. envelope is what it adds to each message
	// or change.
	payload  = 6 << 20
	envelope = 600
)

// InBatch returns about how many messages or changes are in a batch. aSecond is how many of them
// come each second to one poller or shard, and bytes is the size of each. Lambda waits for the
// first one, and then for one second.
func InBatch(aSecond, bytes float64) float64 {
	most := math.Min(MostInBatch, payload/(bytes+envelope))
	return math.Max(1, math.Min(most, 1+aSecond*BatchWindow))
}

// Put describes one batch to store.
type Put struct {
	Messages float64 // in the batch
	Requests float64 // to DynamoDB
	// Uploads are payloads that go to the payload bucket, and Fetched those that are read there,
	// one after the other.
	Uploads, Fetched float64
}

// Seconds returns how long a function of so many MB takes for the batch.
func (p Put) Seconds(memory int) float64 {
	return p.Messages*CPUPerMessage/cores(memory) + pieces(p.Requests, InFlight)*Latency +
		(pieces(p.Uploads, objectsInFlight)+p.Fetched)*ObjectLatency
}

// Count describes one batch of changes to count.
type Count struct {
	Changes  float64
	Updates  float64 // of totals, after folding
	Requests float64 // to DynamoDB
	Archived float64 // objects
	Fetched  float64 // of these, those whose payload is read from the payload bucket first
}

// Seconds returns how long a function of so many MB takes for the batch.
func (c Count) Seconds(memory int) float64 {
	computing := (c.Changes*CPUPerChange + c.Updates*CPUPerUpdate) / cores(memory)
	return computing + pieces(c.Requests, InFlight)*Latency +
		(pieces(c.Archived, objectsInFlight)+pieces(c.Fetched, objectsInFlight))*ObjectLatency
}

// pieces returns how often a function waits for n requests, each of them at once. If a batch has
// less than one on average, only some batches wait.
func pieces(n, each float64) float64 {
	if n <= 1 {
		return n
	}
	return math.Ceil(n / each)
}

// cores returns how many cores' worth of time a function of so many MB has.
func cores(memory int) float64 { return float64(memory) / MemoryOfOneCPU }

// LooksASecond is how often in a second a function reads a total that it updates together with many
// others: once an hour.
const LooksASecond = 1.0 / 3600

// Touched returns how many different lanes a total has been touched from, if so many batches
// touched it and each batch came from one of so many lanes.
func Touched(batches, lanes float64) float64 {
	if lanes <= 0 || batches <= 0 {
		return 0
	}
	return math.Min(batches, lanes*(1-math.Exp(-batches/lanes)))
}
