package propose

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

// holders are names of arrays that hold events, also beside a time.
var holders = []string{"records", "events", "entries", "messages", "notifications", "statuses", "changes"}

// places finds where the lines hold several events: the line is an array, or it has arrays of
// objects that each have a time, and the payload around them has none of its own.
func places(lines []message) []envelope.Batch {
	var batches []envelope.Batch
	fits := map[string]bool{} // by path
	for _, line := range lines {
		doc, err := event.ParseDocument(line.text)
		if err != nil {
			continue
		}
		if doc.Root().Kind() == event.Array {
			if len(batches) == 0 {
				batches = append(batches, envelope.Batch{})
			}
			continue
		}
		if opened, err := envelope.Open(envelope.Message{Body: line.text}); err == nil {
			arrays(fits, "", opened.Data.Root(), timedBy(opened.Data.Root(), 0, true, false))
		}
	}
	for path, fit := range fits {
		if each, err := event.ParseEvery(path); fit && err == nil {
			batches = append(batches, envelope.Batch{Each: each})
		}
	}
	slices.SortFunc(batches, func(a, b envelope.Batch) int { return strings.Compare(a.Each.String(), b.Each.String()) })
	return batches
}

// arrays notes for each array of objects whether it may hold events in every line so far. It does
// not look inside of one that does.
func arrays(fits map[string]bool, path string, n event.Node, timed bool) {
	for name, value := range n.Members() {
		at := below(path, name)
		if value.Kind() == event.Object {
			arrays(fits, at, value, timed)
		}
		if value.Kind() != event.Array || value.Len() == 0 {
			continue
		}
		holds := slices.Contains(holders, strings.ToLower(name))
		fit := !timed || holds
		for element := range value.Elements() {
			fit = fit && (timedBy(element, 3, timed, false) || holds && timedBy(element, 3, timed, true))
		}
		if before, seen := fits[at]; fit && (before || !seen) {
			fits[at] = true
			continue
		}
		fits[at] = false
		for element := range value.Elements() {
			arrays(fits, at+"[]", element, timed)
		}
	}
}

// timedBy reports whether an object has a member that is a time, so many objects deep. byName says
// that a number must have the name of one. anew says that a time of the sending is one, too.
func timedBy(n event.Node, depth int, byName, anew bool) bool {
	for name, value := range n.Members() {
		f := field{path: name}
		if value.Kind() == event.Object && depth > 0 && timedBy(value, depth-1, byName, anew) {
			return true
		}
		if value.Kind() == event.String || value.Kind() == event.Number {
			f.see(value)
		}
		if times, _ := f.times(); times == 0 || changes(name) && !anew {
			continue
		}
		if !f.numeric() || timeScore(&f) > 0 || !byName && idScore(&f, "") == 0 {
			return true
		}
	}
	return false
}

// around lists what events may take of the objects around them: fields that are no times.
func (s *Sample) around() []*field {
	if !slices.ContainsFunc(s.batches, func(b envelope.Batch) bool { return !b.Each.IsZero() }) {
		return nil
	}
	var outer []sampled
	for _, line := range s.lines {
		if opened, err := envelope.Open(envelope.Message{Body: line.text}); err == nil {
			outer = append(outer, sampled{opened: opened})
		}
	}
	return slices.DeleteFunc(profile(outer), func(f *field) bool {
		name := f.last()
		path, err := event.ParseEvery(f.path)
		return err != nil || len(f.values) < 2 || f.isTime(len(outer)) || below("", name) != name || changes(name) ||
			strings.HasSuffix(f.path, "]") ||
			slices.ContainsFunc(s.batches, func(b envelope.Batch) bool { return b.Each.Contains(path) })
	})
}

// nameAround returns the name that events take a field of the objects around them by. It is another
// one if they have a member of its name.
func (s *Sample) nameAround(f *field) string {
	name := f.last()
	for slices.ContainsFunc(s.events, func(e sampled) bool { return e.opened.Data.Root().Member(name).Exists() }) {
		name = "around_" + name
	}
	return name
}
