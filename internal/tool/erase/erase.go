// Package erase erases events of a stack for good, and finds what else may hold them: objects of
// the archive, older versions of payloads, and messages in the queues.
package erase

import (
	"context"
	"strings"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/archive"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
)

// Choice says what to erase, and what to do with it.
type Choice struct {
	Dry     bool   // erase nothing
	Scan    bool   // look for parts in the whole table
	Archive bool   // read the files of the archive
	Pattern string // of the events
	Ask     query.Ask
	Keys    string // the file of keys
	Letters string // the folder of messages to look in
}

// Eraser erases events of a stack.
type Eraser struct {
	Options Choice
	Target  *target.Target
	Plan    *pipeline.Pipeline
	Store   *store.Store
	Hidden  show.Personal
	Clock   env.Env
	// Scans is told before a whole table is scanned.
	Scans func(ctx context.Context, table string) error
	// Step is told of each event that is erased, if there are many.
	Step    func(show.Step)
	list    []*Event
	files   map[event.Key][]archive.Item // what the files of the archive have of the events and their parts
	unknown []error                      // what could not be read
}

// note remembers what could not be read.
func (e *Eraser) note(err error) {
	if err != nil {
		e.unknown = append(e.unknown, err)
	}
}

// WrongChoice is an error in what names the events.
type WrongChoice struct{ Err error }

func (w *WrongChoice) Error() string { return w.Err.Error() }
func (w *WrongChoice) Unwrap() error { return w.Err }

// Add adds an event to what is erased. Without a type, nothing but its key is known.
func (e *Eraser) Add(eventType string, key event.Key) {
	e.list = append(e.list, &Event{Type: eventType, key: key})
}

// Len is how many events are erased.
func (e *Eraser) Len() int { return len(e.list) }

// EraseAll erases the events, one after the other. If that ends early, left is how many are not
// erased.
func (e *Eraser) EraseAll(ctx context.Context) (left int, err error) {
	step := e.Step
	if len(e.list) < 2 {
		step = func(show.Step) {}
	}
	defer step(show.Step{})
	for n, ev := range e.list {
		if ev.err != nil {
			continue
		}
		erased, err := repair.Of(e.Store).EraseWith(ctx, ev.key, ev.found, ev.all)
		switch {
		case err == nil:
			ev.Erased, ev.Barred = &erased, true
		case len(e.list) == 1, target.Refused(err):
			return 0, err
		case ctx.Err() != nil:
			return len(e.list) - n, ctx.Err()
		default:
			ev.err = err
		}
		step(show.Step{Phase: "erasing", Done: n + 1, Total: len(e.list)})
	}
	return 0, nil
}

// shown returns a key without what is personal in it. Without a type, it is a key that a person has
// written as it is.
func (e *Eraser) shown(eventType string, key event.Key) event.Key {
	if eventType == "" {
		return key
	}
	return e.Hidden.KeyOf(eventType, key)
}

// errorOf returns the text of an error about an event, without what is personal in the event's key.
func (e *Eraser) errorOf(ev *Event, err error) string {
	return strings.ReplaceAll(show.Error(err), ev.key.String(), e.shown(ev.Type, ev.key).String())
}
