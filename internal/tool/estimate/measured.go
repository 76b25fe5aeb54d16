package estimate

// `make bench` measures the two functions and holds its results to these figures. They are the most
// that a function takes, on one core. So they are the least that check, cost and the operating
// guide promise.
const (
	// CPUPerMessage is the seconds of one core for a message that is stored.
	CPUPerMessage = 75e-6
	// CPUPerChange and CPUPerUpdate are the seconds of one core for a change, and in addition for
	// each update of a total.
	CPUPerChange = 100e-6
	CPUPerUpdate = 54e-6
	// RequestsPerUpdate is how many requests an update takes if no two changes of a batch share a
	// total.
	RequestsPerUpdate = 0.05
	// Latency is how many seconds a request to DynamoDB takes in the bench.
	Latency = 5e-3
	// InFlight is how many requests are under way at once.
	InFlight = 4
)

// ObjectLatency is how many seconds it takes to put an object into a bucket, or to read one. It is
// assumed, not measured.
const ObjectLatency = 30e-3

// AWS documents these figures.
const (
	// ChangesPerShard is how many changes a second one partition can take, and therefore how many
	// its shard delivers. It follows from 1,000 write units, one for each item of up to a kilobyte
	// (DynamoDB developer guide, "Burst and adaptive capacity").
	ChangesPerShard = 1000
	// MemoryOfOneCPU is the memory in MB at which a function has the time of one core (Lambda
	// developer guide, "Configure Lambda function memory"). The share grows with the memory.
	MemoryOfOneCPU = 1769
	// LeastMemory and MostMemory are the bounds of a function's memory in MB.
	LeastMemory = 128
	MostMemory  = 10240
)
