package demo

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// rivals finds lines that have the key of an earlier line and another payload. One of them ends in
// quarantine, whatever the trouble does. Of each key it keeps a hash and a digest.
type rivals struct {
	seen  map[string]rival // by the hash of a key, and of its revision if it has one
	count int
	lines [2]int // the first two with one key
}

type rival struct {
	line   int
	digest event.Digest
}

// see compares a line with those before it.
func (v *rivals) see(line int, item *event.Item) {
	if v.seen == nil {
		v.seen = map[string]rival{}
	}
	differs := false
	for _, one := range item.All() {
		key := one.Key.Hash()[:16]
		if one.Revision != nil {
			key += one.Revision.String() + one.Ties
		}
		was, known := v.seen[key]
		switch {
		case !known:
			v.seen[key] = rival{line, one.Digest}
		case was.digest != one.Digest && !differs:
			if differs = true; v.count == 0 {
				v.lines = [2]int{was.line, line}
			}
			v.count++
		}
	}
}

// check returns what see has found.
func (v *rivals) check(events int) Check {
	return Check{Name: "keys", About: "no line with the key of another one and a different payload", Compared: events,
		Differences: []string{fmt.Sprintf("%s: the first two with one key are lines %d and %d; give them another id and key, "+
			"or ignore what differs between deliveries of one event", show.Count(v.count, "line"), v.lines[0], v.lines[1])}}
}
