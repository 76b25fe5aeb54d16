package cost

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

// madeUp is how many events are made up of each type. They are of supposedBytes.
const (
	madeUp        = 1000
	supposedBytes = 1024
)

// Suppose is like [Compute], for made-up events of the type that costs the most write units. Each
// has all fields that its type reads and so many parts of a type of parts with each, and counts in
// every total that it may count in.
func Suppose(in Input, parts int) (*Report, error) {
	spec := in.Pipeline.Describe().Spec
	for _, a := range spec.Aggregates {
		for typ, from := range a.From {
			from.Where = ""
			a.From[typ] = from
		}
	}
	p, err := pipeline.New(spec, pipeline.Secret([]byte("of events that are made up")))
	if err != nil {
		return nil, err
	}
	in.File, in.Now = "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // always the same, so that the cost is
	var dearest *Report
	most := -1.0
	for _, typ := range slices.Sorted(maps.Keys(spec.Events)) {
		if p.IsPart(typ) {
			continue // its messages are those of its whole
		}
		in.Pipeline = p
		r, err := Compute(in, supposed(p, typ, in.Now, parts))
		if err != nil {
			return nil, fmt.Errorf("events of %s cannot be made up; name sample events with --events: %w", typ, err)
		}
		units := 0.0
		for _, part := range r.Parts {
			if part.Price == WriteUnits {
				units += part.AMillion
			}
		}
		if units > most {
			dearest, most, r.Events.Type = r, units, typ
		}
	}
	return dearest, nil
}

// supposed makes up events of a type. They have a field more that makes them as large as supposed,
// unless a schema does not allow it.
func supposed(p *pipeline.Pipeline, typ string, now time.Time, parts int) iter.Seq2[envelope.Message, error] {
	return func(yield func(envelope.Message, error) bool) {
		maker, more := send.NewMaker(p), map[string]any(nil)
		for n := range int64(madeUp) {
			text, err := maker.Full(typ, more, now, madeUp+n*int64(max(1, parts)), parts)
			if n == 0 && err == nil {
				item, _ := p.Plan(envelope.Message{Body: text}) // Full has planned it
				const field, longer = "made up", 50             // the field itself, and numbers of other events
				padded := map[string]any{field: strings.Repeat("-", max(1, supposedBytes-item.Size()-longer))}
				if larger, err := maker.Full(typ, padded, now, madeUp, parts); err == nil {
					text, more = larger, padded
				}
			}
			if !yield(envelope.Message{Body: text}, err) {
				return
			}
		}
	}
}

// Messages returns the messages of a file of events. ofLine returns those of one line.
func Messages(name string, file io.Reader, ofLine func(line string) ([]envelope.Message, error)) iter.Seq2[envelope.Message, error] {
	return func(yield func(envelope.Message, error) bool) {
		for line, err := range ndjson.Lines(file) {
			if errors.Is(err, ndjson.ErrTooLong) {
				continue // no queue takes it
			}
			var messages []envelope.Message
			if err == nil {
				messages, err = ofLine(line.Text)
			}
			if err != nil {
				yield(envelope.Message{}, fmt.Errorf("%s:%d: %w", name, line.Number, err))
				return
			}
			for _, m := range messages {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}
