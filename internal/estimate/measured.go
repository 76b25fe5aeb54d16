package estimate

// What `make bench` measures of the two functions, which holds its own figures to these: they are what a function takes
// at most, on one core, and so what check, cost and the operating guide promise at least.
const (
	// CPUPerMessage is seconds of one core for a message that is stored.
	CPUPerMessage = 75e-6
	// CPUPerChange and CPUPerUpdate are seconds of one core for a change, and for each update of a total beside it.
	CPUPerChange = 100e-6
	CPUPerUpdate = 54e-6
	// RequestsPerUpdate is how many requests an update takes where no two changes of a batch share a total.
	RequestsPerUpdate = 0.05
	// Latency is how many seconds a request to DynamoDB takes in the bench.
	Latency = 5e-3
	// InFlight is how many of them are under way at once.
	InFlight = 4
)

// ArchiveLatency is how many seconds it takes to put an object into the archive. It is supposed, not measured.
const ArchiveLatency = 30e-3

// What AWS documents.
const (
	// ChangesPerShard is how many changes a second one partition can take, and its shard so delivers: 1,000 write units,
	// one for each item of up to a kilobyte (DynamoDB developer guide, "Burst and adaptive capacity").
	ChangesPerShard = 1000
	// MemoryOfOneCPU is the memory in MB at which a function has one core's worth of time (Lambda developer guide,
	// "Configure Lambda function memory"); the share grows with the memory.
	MemoryOfOneCPU = 1769
	// LeastMemory and MostMemory are the bounds of a function's memory in MB.
	LeastMemory = 128
	MostMemory  = 10240
)
