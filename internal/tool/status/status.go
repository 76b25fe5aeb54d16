// Package status reads the state of a stack: its queues, why messages are in quarantine, how far
// behind its totals are, the mappings and errors of its functions, its alarms, and the flags of its
// generations. [Read] does this, and [Report.Text] writes it for people. The package changes
// nothing, except that messages of quarantine are hidden from others while it looks at them.
package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/tool/hot"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/watched"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// Queues is what the package needs of SQS.
type Queues interface {
	quarantine.Client
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Watch is what the package needs of CloudWatch.
type Watch interface {
	DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput, ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
	GetMetricStatistics(context.Context, *cloudwatch.GetMetricStatisticsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetMetricStatisticsOutput, error)
}

// Source says what to read, and with what. If a part is nil or empty, the report says that it is
// not known.
type Source struct {
	Queues Queues
	Lambda pause.Client
	Limits Limits       // nil: there is no account, as with ingot dev
	Watch  Watch        // nil: there is no CloudWatch, as with ingot dev
	Logs   hot.Logs     // likewise
	Store  *store.Store // of the aggregates table
	// Home returns the home Region of the events table; nil: there are no Regions.
	Home func(context.Context) (string, error)
	// Pipeline is the deployed one. nil: it cannot be read, and NoPipeline says why.
	Pipeline   *pipeline.Pipeline
	NoPipeline error

	Queue, Quarantine, DeadLetters string // URLs
	Ingest, Streams                string // names of functions
	LogGroups                      []string
	AlarmPrefix                    string // what the names of the stack's alarms begin with
	Now                            time.Time
}

// Queue is one of the queues.
type Queue struct {
	Name     string `json:"name"` // "queue", "quarantine" or "dead-letter"
	URL      string `json:"url"`
	ARN      string `json:"arn,omitempty"`
	Waiting  int    `json:"waiting"`
	InFlight int    `json:"inFlight"`
	// Oldest is the age of the oldest message, in seconds. nil: not known.
	Oldest *float64 `json:"oldest,omitempty"`
}

// Reason says why messages are in quarantine, as their notes have it. Both texts are empty for
// messages without a note.
type Reason struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Count   int    `json:"count"`
	Usual   bool   `json:"usual"` // a bound has refused the events, which is not trouble
}

// Function is what became of the calls of a function lately. A nil number is not known.
type Function struct {
	Name      string `json:"name"`
	Calls     *int   `json:"calls,omitempty"`
	Failed    *int   `json:"failed,omitempty"`
	Throttled *int   `json:"throttled,omitempty"` // calls that Lambda refused
}

// Alarm is an alarm that is not quiet.
type Alarm struct {
	Name  string `json:"name"`
	State string `json:"state"` // ALARM or INSUFFICIENT_DATA
	About string `json:"about"`
}

// Aggregate is the state of a generation.
type Aggregate struct {
	Name     string   `json:"name"`
	Since    int64    `json:"since"`
	Building bool     `json:"building"`
	Flags    []string `json:"flags"`
}

// Report is the state of a stack.
type Report struct {
	Stack string `json:"stack"`
	Epoch int64  `json:"epoch"` // of the deployed pipeline; 0: not known
	// Home is the home Region of the events table. It is empty if it is not known, or if no
	// function has started.
	Home string `json:"home,omitempty"`
	// Lag is how far the totals are behind the events, in seconds: the greatest of the last four
	// minutes. nil: not known, or nothing came.
	Lag        *float64        `json:"lag,omitempty"`
	Queues     []Queue         `json:"queues"`
	Quarantine []Reason        `json:"quarantine"` // of the messages that were looked at
	Mappings   []pause.Mapping `json:"mappings"`
	Functions  []Function      `json:"functions"`
	Account    *Account        `json:"account,omitempty"` // nil: not known
	Alarms     []Alarm         `json:"alarms"`
	Aggregates []Aggregate     `json:"aggregates"`
	Flagged    []Flagged       `json:"flagged"` // totals, among the first some thousand
	// Hot are the partitions to which most writes were refused in the last hour.
	Hot []hot.Partition `json:"hot"`
	// Verified is what the last scheduled verification has found; nil: none has ended.
	Verified *watched.Last `json:"verified,omitempty"`
	Unwell   []string      `json:"unwell"`  // why the stack is not well
	Unknown  []string      `json:"unknown"` // what could not be read, and why
	// Incomplete says that something could not be read that should be known.
	Incomplete bool `json:"incomplete"`
}

// Read reads as much as it can. Unknown lists the parts that it could not read.
func Read(ctx context.Context, s Source) *Report {
	r := ReadAround(ctx, s)
	r.Queues, r.Quarantine, r.Functions, r.Flagged = []Queue{}, []Reason{}, []Function{}, []Flagged{}
	r.Aggregates, r.Hot = []Aggregate{}, []hot.Partition{}
	if s.Home != nil {
		var err error
		if r.Home, err = s.Home(ctx); err != nil {
			r.unknown("home", err)
		}
	}
	r.queues(ctx, s)
	if s.Watch == nil {
		r.Unknown = append(r.Unknown, "ages, lag, alarms and hot partitions: ingot dev has no CloudWatch")
	} else {
		r.lag(ctx, s)
		r.functions(ctx, s)
		r.hottest(ctx, s)
	}
	r.aggregates(ctx, s)
	r.verified(ctx, s)
	return r
}

// verified reads what the schedule of cmd/worker has found. Its alarms are in a stack of their own.
func (r *Report) verified(ctx context.Context, s Source) {
	if s.Store == nil {
		return
	}
	c := s.Store.Config()
	last, err := watched.Read(ctx, c.Client, c.Aggregates)
	switch {
	case err != nil:
		r.unknown("the last scheduled verification", err)
		return
	case last == nil:
		return
	}
	r.Verified = last
	if last.Differing > 0 {
		r.unwell("the last scheduled verification found %s wrong: ingot verify --twice names them", show.Count(last.Differing, "total"))
	}
	if last.Failed > 1 {
		r.unwell("the last %d scheduled verifications proved nothing: the state machine of cmd/worker says why", last.Failed)
	}
	noted := cmp.Or(last.At, last.FailedAt)
	// No sensible schedule is slower than once a month.
	if at, err := time.Parse(time.RFC3339, noted); err == nil && s.Now.Sub(at) > 33*24*time.Hour {
		r.unwell("no scheduled verification has proved anything since %s: look at the schedule of cmd/worker and at its state machine", noted)
	}
}

// ReadAround reads what is around the functions alone: their mappings, what the account allows, and
// the alarms.
func ReadAround(ctx context.Context, s Source) *Report {
	r := &Report{Mappings: []pause.Mapping{}, Alarms: []Alarm{}, Unwell: []string{}, Unknown: []string{}}
	r.mappings(ctx, s)
	r.account(ctx, s)
	if s.Watch != nil {
		r.alarms(ctx, s)
	}
	return r
}

func (r *Report) unknown(what string, err error) {
	r.Unknown = append(r.Unknown, what+": "+strings.ReplaceAll(show.Error(err), "\n", "; "))
	r.Incomplete = true
}

func (r *Report) unwell(format string, args ...any) {
	r.Unwell = append(r.Unwell, fmt.Sprintf(format, args...))
}

func (r *Report) mappings(ctx context.Context, s Source) {
	for _, function := range []string{s.Ingest, s.Streams} {
		if function == "" {
			r.unknown("mappings", errors.New("the names of the functions are not known"))
			return
		}
		list, err := pause.Read(ctx, s.Lambda, function)
		if err != nil {
			r.unknown("mappings of "+function, err)
			continue
		}
		r.Mappings = append(r.Mappings, list...)
		for _, m := range list {
			if strings.HasPrefix(m.Last, "PROBLEM") {
				r.unwell("%s: of its last batch, Lambda says %s; its log says why", function, m.Last)
			}
			switch {
			case m.Off() && m.By != "":
				r.unwell("%s is paused by %s since %s", function, m.By, m.At.UTC().Format(time.RFC3339))
			case m.Off():
				r.unwell("%s is switched off, and it is not known by whom", function)
			case m.State != "Enabled": // it is made or changed
				r.unwell("the event source mapping of %s is %s: nothing may call it meanwhile", function, m.State)
			}
		}
	}
}

func (r *Report) hottest(ctx context.Context, s Source) {
	if len(s.LogGroups) == 0 {
		r.unknown("hot partitions", errors.New("the outputs IngestLogGroup and StreamsLogGroup are missing"))
		return
	}
	list, err := hot.Read(ctx, s.Logs, s.LogGroups, s.Pipeline, s.Now)
	if err != nil {
		r.unknown("hot partitions", err)
		return
	}
	r.Hot = list
}

func (r *Report) aggregates(ctx context.Context, s Source) {
	if s.Pipeline == nil {
		r.unknown("aggregates", s.NoPipeline)
		return
	}
	r.Epoch = s.Pipeline.Epoch()
	for _, def := range s.Pipeline.Definitions() {
		head, err := s.Store.Head(ctx, def)
		if err != nil {
			r.unknown("aggregate "+def.Name, err)
			continue
		}
		one := Aggregate{Name: def.Name, Since: def.Since, Flags: []string{}}
		if head == nil {
			one.Flags = append(one.Flags, "no streams function has started with it, so nothing is counted yet")
		} else {
			one.Building, one.Flags = head.Building, append(one.Flags, show.PersonalOf(s.Pipeline).All(head.Flags())...)
		}
		r.Aggregates = append(r.Aggregates, one)
		for i, flag := range one.Flags {
			if head != nil && head.Flags()[i] == "accepted "+head.Accepted {
				continue // somebody knows of it
			}
			r.unwell("aggregate %s: %s", def.Name, flag)
		}
	}
	r.flagged(ctx, s)
}
