package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// These limit what a LinesError prints.
const (
	maxTold   = 10 // lines with their errors
	maxRanges = 20 // ranges of numbers of the other lines
)

// LinesError lists all lines that cannot be sent: the first ones with their errors, the others only
// by number.
type LinesError struct {
	Data   string
	Lines  int // read
	Bad    int // those that cannot be sent
	First  []*LineError
	drops  bool // lines that the pipeline drops were not read
	others []span
	text   string // of the first line
}

// span is a range of bad lines with no good line between them.
type span struct{ from, to int }

func (e *LinesError) Error() string {
	advice := ""
	if e.Bad == e.Lines {
		advice = ndjson.Advice(e.text)
	}
	switch {
	case e.Bad == 1 && advice == "" && e.Bad < e.Lines:
		return e.First[0].Error() + "; leave it out with --skip-unusable"
	case e.Bad == 1 && advice == "":
		return e.First[0].Error()
	case advice != "" || e.Bad == e.Lines && e.undecodable():
		return e.list() + "\nWrite each event as one JSON object on a line of its own" + advice + "."
	case e.Bad == e.Lines:
		return e.list() + "\nMend these lines, or change the pipeline so that it takes them."
	}
	return e.list() + "\nMend these lines, change the pipeline so that it takes them, or leave them out with --skip-unusable."
}

// Skipped returns the list of the lines, if all others are sent.
func (e *LinesError) Skipped() string {
	if e.Bad == 1 {
		return e.list() + "\nIt is left out."
	}
	return e.list() + "\nThey are left out."
}

func (e *LinesError) list() string {
	var b strings.Builder
	lines := show.Count(e.Lines, "line")
	if e.drops {
		lines += " that drop does not name"
	}
	fmt.Fprintf(&b, "%s: %s of %s cannot be used:", e.Data, show.Comma(e.Bad), lines)
	for _, one := range e.First {
		fmt.Fprintf(&b, "\n  %s:%d: %v", one.Data, one.Number, one.Err)
	}
	if len(e.others) > 0 {
		fmt.Fprintf(&b, "\n  and %s more: %s", show.Comma(e.Bad-len(e.First)), e.where())
	}
	return b.String()
}

// undecodable reports whether the first lines are not JSON. This happens if one JSON value is
// spread over several lines.
func (e *LinesError) undecodable() bool {
	return !slices.ContainsFunc(e.First, func(one *LineError) bool {
		var refusal *event.Refusal
		return !errors.As(one.Err, &refusal) || refusal.Reason != event.Undecodable
	})
}

// where names the other lines: "lines 12, 15-20 and 31, and others up to line 900".
func (e *LinesError) where() string {
	var parts []string
	for _, s := range e.others[:min(len(e.others), maxRanges)] {
		if s.from == s.to {
			parts = append(parts, strconv.Itoa(s.from))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", s.from, s.to))
		}
	}
	text := "lines " + strings.Join(parts, ", ")
	if len(e.others) > maxRanges {
		text += fmt.Sprintf(", and others up to line %d", e.others[len(e.others)-1].to)
	}
	return text
}

func (e *LinesError) add(line *LineError) {
	e.Bad++
	if len(e.First) < maxTold {
		e.First = append(e.First, line)
		return
	}
	last := len(e.others) - 1
	switch {
	case last >= 0 && line.Number <= e.others[last].to+1:
		e.others[last].to = line.Number
	case last > maxRanges: // for the ranges beyond the limit, only the last line is named
		e.others[last].to = line.Number
	default:
		e.others = append(e.others, span{line.Number, line.Number})
	}
}

// survey reads all lines before the run, if their number is unknown. It counts them and finds all
// lines that cannot be sent. It keeps only a few of them in memory. With Skip, the run is without
// these lines, if any others are left.
func (r *run) survey(ctx context.Context) error {
	found := &LinesError{Data: r.Data.from(), drops: r.Plan.Drops()}
	var newest time.Time
	events, last, place := 0, 0, 0
	late, firstLate := 0, 0 // events after one with a later time
	bad := map[int]bool{}   // places of messages, if they are left out
	for line, err := range r.Data.Lines() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && line.Number == 0 {
			return err // the data as a whole cannot be read
		}
		place++
		var item *event.Item
		if err == nil {
			item, err = r.plan(&line.Message, 0)
		}
		if err == nil {
			err = inTime(item, newest)
		}
		if err == nil && r.Repeat > 1 { // the last copy is the farthest from the line
			_, err = r.plan(&line.Message, r.Repeat-1)
		}
		if found.Lines == 0 {
			found.text = line.Message.Body
		}
		if line.Number != last {
			found.Lines++
			last = line.Number
		}
		if err != nil {
			found.add(r.wrong(line, err))
			if r.Skip != nil {
				bad[place] = true
			}
			continue
		}
		if item.At.Before(newest) {
			if late++; late == 1 {
				firstLate = line.Number
			}
		} else {
			newest = item.At
		}
		r.rivals.see(line.Number, item)
		if events++; events%10_000 == 0 {
			r.Progress(show.Step{Phase: "reading the events", Done: events, Total: 0})
		}
	}
	switch {
	case found.Bad > 0 && (r.Skip == nil || events == 0):
		return found
	case found.Bad > 0:
		r.Data.Lines = without(r.Data.Lines, bad)
		r.Skip(found)
	}
	if late > 0 && r.Tell != nil {
		r.Tell(fmt.Sprintf("%s is not in order of time: %s of %s are older than an event before them, the first on line %d; they are "+
			"sent in the order of the file, and so arrive late: sort the lines by time if they should not",
			r.Data.from(), show.Comma(late), show.Count(events, "event"), firstLate))
	}
	r.Data.Events, r.rivals.seen = events, nil
	return nil
}

// without returns the messages except those at some places, counted from 1.
func without(lines func() iter.Seq2[Line, error], places map[int]bool) func() iter.Seq2[Line, error] {
	return func() iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			place := 0
			for line, err := range lines() {
				if place++; !places[place] && !yield(line, err) {
					return
				}
			}
		}
	}
}
