package demo

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/demo/tally"
)

// Data is what the demo sends: events one by one, and what belongs to them.
type Data struct {
	Name   string // what the events are, in the plural: "earthquakes"
	File   string // where the lines are from, for errors; empty: Name says it
	About  string // one line for people: what it is and where it is from
	Events int    // how many lines there are; 0: not known before they are read
	// Lines gives the events, oldest first. It may be called several times and gives the same each time.
	Lines func() iter.Seq2[Line, error]
	// Alter changes what an event says, but not which event it is: the same id with another payload. nil: a
	// member is added.
	Alter func(body string, die *rand.Rand) string
	// Resend is what a producer sends that sends an event a second time; nil: the same to the letter.
	Resend func(body string, die *rand.Rand) string
	// Distinct: no two lines are the same event, so every line makes an item.
	Distinct bool
	// Tally adds up the producer's list by hand; nil: there is none for this data.
	Tally *tally.Tally
}

// from is where the lines are from.
func (d *Data) from() string { return cmp.Or(d.File, d.Name) }

// Line is one event as the producer has it: a message to be.
type Line struct {
	Number int // from 1; several messages may be on one line
	envelope.Message
}

// LineError is a line that is not an event of the pipeline, or that is one and cannot be repeated.
type LineError struct {
	Data   string
	Number int
	Err    error
}

// repeatError says why an event that is in order cannot be sent again as another event.
type repeatError struct{ why string }

func (e *repeatError) Error() string {
	return "it cannot be repeated: " + e.why + "; leave --repeat away"
}

func (e *LineError) Error() string {
	var repeat *repeatError
	if errors.As(e.Err, &repeat) {
		return fmt.Sprintf("%s:%d: %v", e.Data, e.Number, repeat)
	}
	var refusal *event.Refusal
	if errors.As(e.Err, &refusal) && refusal.Reason == event.Undecodable {
		return fmt.Sprintf("%s:%d: %v; mend that line: an event is one JSON object on a line of its own", e.Data, e.Number, e.Err)
	}
	if refusal == nil {
		return fmt.Sprintf("%s:%d: %v", e.Data, e.Number, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v; mend that line, or change the pipeline so that it takes it", e.Data, e.Number, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }
