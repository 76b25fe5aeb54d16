package estimate

import "math"

// These constants say how the store packs its requests. demo.TestCostIsWhatIsCounted compares what
// follows from them with what the engine counts.
const (
	statementsARequest = 25
	keysARead          = 100
	fewPuts            = 3  // up to this number, new items are put one by one
	fewTotals          = 24 // up to this number, totals are updated one by one
	objectsInFlight    = 8  // how many objects are put at once, and archived
)

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

// Put describes one batch to store, and estimates what that takes.
type Put struct {
	Messages float64 // in the batch
	Writes   float64 // those that are put: all except what cannot be stored
	Taken    float64 // of the writes, those whose key is taken already
	Replaced float64 // of the taken ones, newer revisions that replace the stored one
	Compared float64 // of the taken ones, those with another payload
	// Transactions put items that are not among the others.
	Transactions float64
	// Uploads are payloads that go to the payload bucket, and Fetched those that are read there,
	// one after the other.
	Uploads, Fetched float64
}

// Single reports whether the items are put one by one. Then a refusal contains the stored item, so
// no item is read.
func (p Put) Single() bool { return p.Writes <= fewPuts }

// Requests returns how many requests to DynamoDB the batch takes.
func (p Put) Requests() float64 {
	if p.Single() {
		return p.Writes + p.Replaced + p.Transactions
	}
	return p.Transactions + math.Ceil(p.Writes/statementsARequest) + pieces(p.Taken, keysARead) + p.Replaced + pieces(p.Compared, 5)
}

// Seconds returns how long a function of so many MB takes for the batch.
func (p Put) Seconds(memory int) float64 {
	return p.Messages*CPUPerMessage/cores(memory) + rounds(p.Requests())*Latency +
		(pieces(p.Uploads, objectsInFlight)+p.Fetched)*ObjectLatency
}

// Count describes one batch of changes to count, and estimates what that takes.
type Count struct {
	Changes  float64
	Updates  float64 // of totals, after folding
	Looks    float64 // of the updates, those of totals that the function has not seen lately and reads first
	Archived float64 // objects
	Fetched  float64 // of these, those whose payload is read from the payload bucket first
}

// Single reports whether the totals are updated one by one. Then each answer contains the total, so
// no total is read.
func (c Count) Single() bool { return c.Updates <= fewTotals }

// Requests returns how many requests to DynamoDB the batch takes.
func (c Count) Requests() float64 {
	if c.Single() {
		return c.Updates
	}
	return math.Ceil(c.Updates/statementsARequest) + pieces(c.Looks, keysARead)
}

// Seconds returns how long a function of so many MB takes for the batch.
func (c Count) Seconds(memory int) float64 {
	computing := (c.Changes*CPUPerChange + c.Updates*CPUPerUpdate) / cores(memory)
	return computing + rounds(c.Requests())*Latency + (pieces(c.Archived, objectsInFlight)+pieces(c.Fetched, objectsInFlight))*ObjectLatency
}

// pieces returns how many requests of size each carry n. If a batch has less than one on average,
// only some batches send a request.
func pieces(n, each float64) float64 {
	if n <= 1 {
		return n
	}
	return math.Ceil(n / each)
}

// rounds returns how often the function waits for requests, InFlight at once.
func rounds(requests float64) float64 { return pieces(requests, InFlight) }

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
