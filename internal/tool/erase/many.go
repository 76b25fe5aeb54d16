package erase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store/query"
)

// keyLine is one line of a file of keys: an event, and the parts that it had.
type keyLine struct {
	Type  string `json:"type,omitempty"`
	PK    string `json:"pk"`
	SK    string `json:"sk"`
	Parts []Part `json:"parts,omitempty"`
}

// FindMany lists the events in the file of keys, and those that the pattern finds.
func (e *Eraser) FindMany(ctx context.Context) error {
	if err := e.readKeys(); err != nil || e.Options.Pattern == "" {
		return err
	}
	known := map[event.Key]bool{}
	for _, ev := range e.list {
		known[ev.key] = true
	}
	name, ask := e.Options.Pattern, e.Options.Ask
	pattern, err := e.Plan.Pattern(name)
	if err != nil {
		return &WrongChoice{err}
	}
	if pattern.Total() != "" {
		return &WrongChoice{fmt.Errorf("%s reads totals: name a pattern that reads events", name)}
	}
	ask.Limit, ask.MaxUnits, ask.Expired, ask.Consistent = 1000, 1e6, true, pattern.Index() == ""
	if _, _, err := query.Of(e.Store).Explain(name, ask); err != nil {
		return &WrongChoice{errors.New(strings.TrimPrefix(err.Error(), "read: "))}
	}
	for {
		page, err := query.Of(e.Store).Read(ctx, name, ask)
		if err != nil {
			return err
		}
		for _, odd := range page.Unreadable {
			e.note(fmt.Errorf("it is left out, because it cannot be decoded; erase it with --pk and --sk: %w", odd))
		}
		for _, item := range page.Items {
			if !known[item.Key] {
				known[item.Key] = true
				e.Add(item.Type, item.Key)
			}
		}
		if ask.Page = page.Next; ask.Page == "" {
			return nil
		}
	}
}

// readKeys reads the file of keys. With a pattern, it need not be there yet.
func (e *Eraser) readKeys() error {
	if e.Options.Keys == "" {
		return nil
	}
	list, err := readLines(e.Options.Keys)
	if errors.Is(err, fs.ErrNotExist) && e.Options.Pattern != "" {
		return nil
	}
	for _, one := range list {
		ev := &Event{Type: one.Type, key: event.Key{PK: one.PK, SK: one.SK}}
		for _, part := range one.Parts {
			ev.parts = append(ev.parts, &event.Item{Type: part.Type, Key: event.Key{PK: part.PK, SK: part.SK}})
		}
		e.list = append(e.list, ev)
	}
	return err
}

// KeysIn returns the keys of the events and of the parts in a file that ingot erase has written.
// The error is a [*WrongChoice].
func KeysIn(file string) (keys []event.Key, err error) {
	list, err := readLines(file)
	for _, one := range list {
		keys = append(keys, event.Key{PK: one.PK, SK: one.SK})
		for _, part := range one.Parts {
			keys = append(keys, event.Key{PK: part.PK, SK: part.SK})
		}
	}
	return keys, err
}

func readLines(file string) (list []keyLine, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &WrongChoice{fmt.Errorf("%w; name a file that ingot erase --pattern has written", err)}
	}
	for line := range bytes.Lines(text) {
		var one keyLine
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&one); err != nil || one.PK == "" || one.SK == "" {
			return nil, &WrongChoice{fmt.Errorf("%s:%d is not a key: write a line such as {\"pk\":\"ORDER#o-1\",\"sk\":\"PLACED\"}", file,
				len(list)+1)}
		}
		list = append(list, one)
	}
	return list, nil
}

// Keep writes the file of keys, whole or not at all.
func (e *Eraser) Keep() error {
	file := e.Options.Keys
	if file == "" {
		return nil
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for _, ev := range e.list {
		line := keyLine{Type: ev.Type, PK: ev.key.PK, SK: ev.key.SK}
		for _, part := range ev.parts {
			line.Parts = append(line.Parts, Part{Type: part.Type, PK: part.Key.PK, SK: part.Key.SK})
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	if err := os.WriteFile(file+".new", text.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
