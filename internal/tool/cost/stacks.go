package cost

import (
	"math"
	"slices"

	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
)

// besideStack is a stack that reads the changes of a table too. Its template has these values.
type besideStack struct {
	name    string
	batch   float64 // most changes that its function gets at once
	memory  int     // MB
	alarms  int     // metrics that they watch, as [rules.Billed] counts them
	metrics int     // that its function writes
	copies  bool    // it writes a copy of each change into the events table
}

// inRequest is how many messages or copies such a function sends with one request.
const inRequest = 10

var besideStacks = []besideStack{
	{name: "publish", batch: 100, memory: 512, alarms: 8 + rules.CompositeAlarm, metrics: 9},
	{name: "capture", batch: 100, memory: 512, alarms: 8 + rules.CompositeAlarm, metrics: 9, copies: true},
}

// Large is the stack of cmd/worker, with its schedule. What a command of --large costs beside that,
// the command prints.
const Large = "large"

// Stacks lists the names of the stacks that may stand beside Ingot's: that of cmd/publish, that of
// cmd/migrate while a table moves, and [Large].
func Stacks() (names []string) {
	for _, of := range besideStacks {
		names = append(names, of.name)
	}
	return append(names, Large)
}

// These are about the schedule as cmd/worker/template.yaml and package worker have it.
const (
	runs        = hours / (7 * 24.0) // in a month
	largeAlarms = 2
	largeParts  = 2*(64+64+64) + 3 // of both looks, and those between them
	// transitions is how many steps of the state machine a part takes, with its start.
	transitions = 4
	// WorkerSpeed is how many bytes of a table a worker of 1 GB is supposed to read in a second.
	WorkerSpeed = 10_000_000
)

// large adds what the schedule costs if each run needs both looks. Beside the events, of which so
// many GB are stored, a look reads the totals, whose size is not known.
func (r *Report) large(in Input, stored float64) {
	const part = Large + " stack"
	read := 2 * runs * stored * gigabyte // bytes in a month
	r.add(in.Prices, part, "read units", ReadUnits, read/4096)
	r.add(in.Prices, part, "invocations", LambdaRequests, runs*largeParts)
	r.add(in.Prices, part, "GB-seconds", gbSeconds(in.Architecture), read/WorkerSpeed)
	r.add(in.Prices, part, "state transitions", Transitions, runs*largeParts*transitions)
	r.add(in.Prices, part, "metrics", Metrics, float64(len(function.WatchMetrics())))
	r.add(in.Prices, part, "alarms", Alarms, largeAlarms)
}

// stacks adds what stands beside. What a target bills for messages is not known.
func (s *sampled) stacks(r *Report) {
	in, storing := s.in, s.Used(rehearse.Storing)
	for _, of := range besideStacks {
		if !slices.Contains(in.Beside, of.name) {
			continue
		}
		part := of.name + " stack"
		add := func(counted, price string, aSecond float64) {
			r.add(in.Prices, part, counted, price, aSecond*hours*3600)
		}
		changes := s.scale() * float64(storing.Changes)
		batch := math.Min(of.batch, s.inBatch(storing.Changes))
		calls := changes / batch
		add("invocations", LambdaRequests, calls)
		add("GB-seconds", gbSeconds(in.Architecture),
			calls*math.Ceil(batch/inRequest)*estimate.Latency*gigabytes(of.memory))
		if of.copies {
			add("write units", WriteUnits, s.scale()*(storing.Events.Write-storing.Events.Refused+storing.Events.IndexWrite))
		}
		r.add(in.Prices, part, "metrics", Metrics, float64(of.metrics+mappingMetrics))
		r.add(in.Prices, part, "alarms", Alarms, float64(of.alarms))
		add("GB of logs", Logs, calls*platformLog/gigabyte)
	}
}
