package cost

import (
	"math"
	"slices"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
)

// besideStack is a stack that reads the changes of a table too. Its template has these values.
type besideStack struct {
	name    string
	batch   float64 // most changes that its function gets at once
	memory  int     // MB
	alarms  int     // metrics that they watch, as [rules.Stack] counts them
	metrics int     // that its function writes
	copies  bool    // it writes a copy of each change into the events table
}

// inRequest is how many messages or copies such a function sends with one request.
const inRequest = 10

var besideStacks = []besideStack{
	{name: "publish", batch: 100, memory: 512, alarms: 8 + rules.CompositeAlarm, metrics: 9},
	{name: "capture", batch: 100, memory: 512, alarms: 7 + rules.CompositeAlarm, metrics: 9, copies: true},
}

// Stacks lists the names of the stacks that may stand beside Ingot's: that of cmd/publish, and that
// of cmd/migrate while a table moves. That of cmd/worker costs something only while a command runs,
// and the command prints how much.
func Stacks() (names []string) {
	for _, of := range besideStacks {
		names = append(names, of.name)
	}
	return names
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
