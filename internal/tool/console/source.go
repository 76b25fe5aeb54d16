package console

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// Source is what a console shows. Its methods may be called concurrently.
type Source interface {
	About(context.Context) (*About, error)
	Flow(context.Context) (*Flow, error)
	Journey(context.Context, Question) (*Journey, error)
	Totals(context.Context, Choice) (*Totals, error)
	Quarantine(context.Context) (*Quarantine, error)
	Letter(ctx context.Context, id string) (*Letter, error)
	// Resend sends a message of quarantine to the queue again. It deletes the message only once the
	// queue has taken it.
	Resend(ctx context.Context, id string) (said string, err error)
}

// Laboratory is a Source in which trouble can be made, and whose totals can be verified at no cost.
// [Live] is one.
type Laboratory interface {
	Source
	Trouble(ctx context.Context, kind string) (said string, err error)
	Verify(context.Context) (*Verified, error)
}

// About says what the console shows.
type About struct {
	Name       string      `json:"name"`
	Live       bool        `json:"live"`
	Place      string      `json:"place"` // account, region and endpoint, for people
	Write      bool        `json:"write"`
	Types      []Type      `json:"types"`
	Aggregates []Aggregate `json:"aggregates"`
	Verdicts   []Verdict   `json:"verdicts"`
	Trouble    []Kind      `json:"trouble,omitempty"`
}

// Verdict is a verdict, with what it means.
type Verdict struct {
	Name  string `json:"name"`
	Means string `json:"means"`
	Line  string `json:"line"` // of the chart: stored, duplicates or quarantined; empty: none
}

// verdicts lists all verdicts. Updates are drawn as stored; what changed nothing is not.
func verdicts() []Verdict {
	var list []Verdict
	for _, v := range event.Verdicts {
		line := ""
		switch {
		case v.Written():
			line = "stored"
		case v == event.Duplicate:
			line = "duplicates"
		case v.Quarantined():
			line = "quarantined"
		}
		list = append(list, Verdict{v.String(), v.Means(), line})
	}
	return list
}

// Type is a type of events, with the fields of the payload that its key is made of.
type Type struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
	Part   bool     `json:"part,omitempty"` // the type is that of a part, so no message has it
}

// Aggregate is a family of totals that can be browsed.
type Aggregate struct {
	Name   string   `json:"name"`
	Since  int64    `json:"since"`
	By     []string `json:"by"`
	Window string   `json:"window,omitempty"`
	Values []Value  `json:"values"`
	ByPut  bool     `json:"byPut,omitempty"` // the put of an event moves the totals, in its transaction
}

// Value is one value that an aggregate keeps.
type Value struct {
	Name string `json:"name"`
	Op   string `json:"op"`
	// Bounds say where no event can bring the value: "below its floor of 0".
	Bounds []string `json:"bounds,omitempty"`
}

// Kind is one kind of trouble.
type Kind struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	About string `json:"about"`
}

// Flow says what went through the pipeline lately, in columns over time.
type Flow struct {
	AsOf    time.Time            `json:"asOf"`
	Step    int                  `json:"step"` // seconds between two points
	Poll    int                  `json:"poll"` // seconds after which there is something new
	At      []int64              `json:"at"`   // seconds since 1970
	Series  map[string][]float64 `json:"series"`
	Lag     *float64             `json:"lag"` // seconds by which totals are behind; null: not known
	Queues  []Queue              `json:"queues"`
	Recent  []Recent             `json:"recent"`
	Hot     []string             `json:"hot,omitempty"`     // where most writes were refused for capacity in the last hour
	Missing string               `json:"missing,omitempty"` // what could not be read, and what to do
}

// Queue is how full a queue is.
type Queue struct {
	Name   string `json:"name"`
	Ready  int    `json:"ready"`
	Hidden int    `json:"hidden"`
}

// Recent is what became of one message.
type Recent struct {
	At      time.Time `json:"at"`
	Type    string    `json:"type"`
	Verdict string    `json:"verdict"`
	Reason  string    `json:"reason,omitempty"`
	PK      string    `json:"pk"`
	SK      string    `json:"sk"`
	Hidden  bool      `json:"hidden,omitempty"` // its key is masked, so it cannot be followed
	// Delivery is the number of a refused delivery, for [Question]. It is 0 if it was not refused.
	Delivery int64 `json:"delivery,omitempty"`
}

// Question names one event: by its message, by its key, by its type and the fields of its key, or
// by a delivery that was refused.
type Question struct {
	Message string            `json:"message"`
	PK      string            `json:"pk"`
	SK      string            `json:"sk"`
	Type    string            `json:"type"`
	Fields  map[string]string `json:"fields"`
	// Delivery is that of a [Recent].
	Delivery int64 `json:"delivery"`

	attributes map[string]string // of Message
}

// Journey is what is known of one event.
type Journey struct {
	Steps []Step `json:"steps"`
}

// Step is one station of a journey.
type Step struct {
	Name  string     `json:"name"`
	Title string     `json:"title"`
	State string     `json:"state"` // done, none, refused or unknown
	Facts []Fact     `json:"facts,omitempty"`
	Cost  string     `json:"cost,omitempty"`
	Code  string     `json:"code,omitempty"` // a payload
	Table *FactTable `json:"table,omitempty"`
}

// Fact is a name with its value.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// FactTable is a small table.
type FactTable struct {
	Head []string   `json:"head"`
	Rows [][]string `json:"rows"`
	// Keys are the keys of the items in Rows, for links to their journeys. The key is empty if it
	// is personal.
	Keys [][2]string `json:"keys,omitempty"`
}

// Choice says which totals to show.
type Choice struct {
	Aggregate string            `json:"aggregate"`
	By        map[string]string `json:"by"` // empty: all groups, which takes a scan
	Value     string            `json:"value"`
	// Scan allows a scan of the aggregates table. On a stack that costs money, so a person must
	// allow it.
	Scan bool `json:"scan"`
}

// Totals are the totals of one aggregate.
type Totals struct {
	Groups   []Group  `json:"groups,omitempty"` // of a scan, the largest first
	More     int      `json:"more,omitempty"`   // groups that are not in the list
	Windows  []Window `json:"windows,omitempty"`
	Flags    []string `json:"flags,omitempty"`
	Building bool     `json:"building"`
	// Price says what a scan would cost. If it is not empty, nothing was read.
	Price string `json:"price,omitempty"`
}

// Group is one set of by values with its values over all windows.
type Group struct {
	By      []string          `json:"by"`
	Windows int               `json:"windows"`
	Values  map[string]Amount `json:"values"`
	Hidden  bool              `json:"hidden,omitempty"` // its name is masked, so it cannot be opened
}

// Amount is one value of a total. Text is for people, and Number is a decimal for charts and for
// sorting. Number is empty if the value has no number.
type Amount struct {
	Text   string `json:"text"`
	Number string `json:"number,omitempty"`
}

// Window is one total.
type Window struct {
	Start  *time.Time        `json:"start"` // null for an aggregate without windows
	Name   string            `json:"name"`  // the start as short as the length of windows allows
	Values map[string]Amount `json:"values"`
	N      int64             `json:"n"`
	Flags  []string          `json:"flags,omitempty"`
}

// Quarantine is what is in quarantine.
type Quarantine struct {
	Groups  []LetterGroup   `json:"groups"`
	Letters []LetterSummary `json:"letters"`
	More    bool            `json:"more"` // there are more than were read
	AsOf    time.Time       `json:"asOf"`
}

// LetterGroup is all messages with one reason and type.
type LetterGroup struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Type    string `json:"type"`
	Count   int    `json:"count"`
}

// LetterSummary is one message in a list.
type LetterSummary struct {
	ID      string    `json:"id"`
	Sent    time.Time `json:"sent"`
	Verdict string    `json:"verdict"`
	Reason  string    `json:"reason"`
	Type    string    `json:"type"`
	PK      string    `json:"pk"`
	SK      string    `json:"sk"`
}

// Letter is one message of quarantine.
type Letter struct {
	LetterSummary
	Report *quarantine.Shown `json:"report"`
	// Sendable says whether the message can be sent again.
	Sendable bool `json:"sendable"`
	// Today says what the message would become if it were sent again now.
	Today string `json:"today"`
}

// Verified is the result of a comparison of every total with the items.
type Verified struct {
	Same     bool     `json:"same"`
	Said     string   `json:"said"`
	Findings []string `json:"findings"`
}
