package cost

import (
	"fmt"
	"math"
	"strings"

	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/rehearse"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// Stack is a stack that stands beside Ingot's, with what is billed of its template.
type Stack struct {
	Name         string
	Memory       int     // MB of its function
	Architecture string  // of its function
	Alarms       int     // metrics that they watch, as [rules.Billed] counts them
	Runs         float64 // of its schedule, in a month

	batch   float64 // most changes that its function gets at once
	metrics int     // that its function writes
	tables  int     // that it calls all the time
	copies  bool    // it writes a copy of each change into the events table
}

// inRequest is how many messages or copies such a function sends with one request.
const inRequest = 10

// Large is the stack of cmd/worker, with its schedule. What a command of --large costs beside that,
// the command prints.
const Large = "large"

// known are the stacks as their templates have them.
var known = []Stack{
	{Name: "publish", Memory: 512, Architecture: "arm64", Alarms: 8 + rules.CompositeAlarm, batch: 100, metrics: 9, tables: 1},
	{Name: "capture", Memory: 512, Architecture: "arm64", Alarms: 8 + rules.CompositeAlarm, batch: 100, metrics: 9, tables: 2,
		copies: true},
	{Name: Large, Memory: 1024, Architecture: "arm64", Alarms: 2, Runs: hours / (7 * 24.0), metrics: len(function.WatchMetrics())},
}

// StackOf returns the stack of a name, as its template has it: that of cmd/publish, that of
// cmd/migrate while a table moves, or [Large].
func StackOf(name string) (Stack, error) {
	names := make([]string, len(known))
	for i, k := range known {
		if names[i] = k.Name; k.Name == name {
			return k, nil
		}
	}
	return Stack{}, fmt.Errorf("%s: the stacks that may stand beside are %s", name, strings.Join(names, ", "))
}

// As returns the stack with what its own template says, and an environment of samconfig.toml.
func (k Stack) As(tpl textfile.File, config *textfile.File, environment string) (Stack, error) {
	c, err := rules.Open(tpl, config, environment)
	if err != nil {
		return k, err
	}
	size, err := c.Alone()
	if err != nil {
		return k, err
	}
	billed := c.Billed()
	k.Memory, k.Architecture, k.Alarms = size.Memory, size.Architecture, billed.Alarms
	if k.Runs = 0; billed.Schedule != "" {
		if k.Runs, err = runsOf(billed.Schedule); err != nil {
			err = fmt.Errorf("%s: %w", tpl.Name, err)
		}
	}
	return k, err
}

// runsOf returns how often a schedule runs in a month.
func runsOf(schedule string) (float64, error) {
	var n, unit = 0, ""
	_, err := fmt.Sscanf(schedule, "rate(%d %s", &n, &unit)
	an, known := map[string]float64{"minute": hours * 60, "hour": hours, "day": hours / 24.0}[strings.TrimRight(unit, "s)")]
	if err != nil || n < 1 || !known {
		return 0, fmt.Errorf("the price of %s is not known: give Schedule as in rate(1 day), with minutes, hours or days", schedule)
	}
	return an / float64(n), nil
}

// These are about a run of the schedule as package worker has it.
const (
	largeParts = 2*(64+64+64) + 3 // of both looks, and those between them
	// transitions is how many steps of the state machine a part takes, with its start.
	transitions = 4
	// WorkerSpeed is how many bytes of a table a worker of 1 GB is supposed to read in a second.
	// More memory is more speed, at the same price.
	WorkerSpeed = 10_000_000
)

// large adds what the schedule costs if each run needs both looks. Beside the events, of which so
// many GB are stored, a look reads the totals, whose size is not known.
func (r *Report) large(in Input, of Stack, stored float64) {
	part := of.Name + " stack"
	read := 2 * of.Runs * stored * gigabyte // bytes in a month
	r.add(in.Prices, part, "read units", ReadUnits, read/4096)
	r.add(in.Prices, part, "invocations", LambdaRequests, of.Runs*largeParts)
	r.add(in.Prices, part, "GB-seconds", gbSeconds(of.Architecture), read/WorkerSpeed)
	r.add(in.Prices, part, "state transitions", Transitions, of.Runs*largeParts*transitions)
	if of.Runs > 0 {
		r.add(in.Prices, part, "metrics", Metrics, float64(of.metrics))
	}
	r.add(in.Prices, part, "alarms", Alarms, float64(of.Alarms))
}

// stacks adds what stands beside. What a target bills for messages is not known.
func (s *sampled) stacks(r *Report, stored float64) {
	in, storing := s.in, s.Used(rehearse.Storing)
	for _, of := range in.Beside {
		if of.Name == Large {
			r.large(in, of, stored)
			continue
		}
		part := of.Name + " stack"
		add := func(counted, price string, aSecond float64) {
			r.add(in.Prices, part, counted, price, aSecond*hours*3600)
		}
		changes := s.scale() * float64(storing.Changes)
		batch := math.Min(of.batch, s.inBatch(storing.Changes))
		calls := changes / batch
		add("invocations", LambdaRequests, calls)
		add("GB-seconds", gbSeconds(of.Architecture),
			calls*math.Ceil(batch/inRequest)*estimate.Latency*gigabytes(of.Memory))
		if of.copies {
			add("write units", WriteUnits, s.scale()*(storing.Events.Write-storing.Events.Refused+storing.Events.IndexWrite))
			add("PUT requests", S3Puts, s.scale()*float64(storing.Puts))
		} else {
			add("GET requests", S3Gets, s.scale()*float64(storing.Puts))
		}
		if in.Stack.OwnKey {
			r.add(in.Prices, part, "KMS requests", KeyRequests, float64(of.tables)*hours*12)
		}
		r.add(in.Prices, part, "metrics", Metrics, float64(of.metrics+mappingMetrics))
		r.add(in.Prices, part, "alarms", Alarms, float64(of.Alarms))
		add("GB of logs", Logs, calls*platformLog/gigabyte)
	}
}
