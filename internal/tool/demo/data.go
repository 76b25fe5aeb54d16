package demo

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/demo/tally"
)

// Data is what the demo sends: the events, one by one, with how to alter, repeat and tally them.
type Data struct {
	Name   string // what the events are, in the plural: "earthquakes"
	File   string // the file of the lines, for errors; if it is empty, errors use Name
	About  string // one line for people: what the data is and where it comes from
	Events int    // how many lines there are; 0 if that is unknown before they are read
	// Lines returns the events, oldest first. It may be called several times and returns the same
	// each time.
	Lines func() iter.Seq2[Line, error]
	// Alter changes the payload of an event but keeps its id. nil means that a member is added.
	Alter func(body string, die *rand.Rand) string
	// Resend returns the body that a producer sends when it sends an event a second time. nil means
	// the same bytes.
	Resend func(body string, die *rand.Rand) string
	// Distinct says that no two lines are the same event, so every line makes an item.
	Distinct bool
	// Tally adds up the producer's list by hand. It is nil if there is no tally for this data.
	Tally *tally.Tally
}

// from returns where the lines come from.
func (d *Data) from() string { return cmp.Or(d.File, d.Name) }

// Line is one event as the producer has it. It becomes a message.
type Line struct {
	Number int // from 1; several messages may be on one line
	envelope.Message
}

// LineError is an error about one line: it is not an event of the pipeline, or it is one that
// cannot be repeated.
type LineError struct {
	Data   string
	Number int
	Err    error
}

// repeatError says why no copy can be made of a correct event for --repeat.
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
		return fmt.Sprintf("%s:%d: %v; correct that line: an event is one JSON object on a line of its own", e.Data, e.Number, e.Err)
	}
	if refusal == nil {
		return fmt.Sprintf("%s:%d: %v", e.Data, e.Number, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v; correct that line, or change the pipeline so that it accepts the line", e.Data, e.Number, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }
