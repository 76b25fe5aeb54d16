package demo

import (
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

const (
	// chanceArray is the chance that an event is the first of a message with several.
	chanceArray = 0.2
	// arraySize is how many events such a message has at most, and arrayBytes how many bytes.
	arraySize  = 10
	arrayBytes = 200_000
)

// together puts some of the originals that follow each other into one message, if pipeline.yaml
// declares batches. All other messages stay as they are. If pipeline.yaml does not declare batches,
// together throws no die.
func (p *producer) together(list []parcel) []parcel {
	if p.world.batches == nil || p.world.trouble.calm {
		return list
	}
	var out []parcel
	for len(list) > 0 {
		one := list[0]
		list = list[1:]
		if !bare(one) || !p.chance(chanceArray) {
			out = append(out, one)
			continue
		}
		bodies, bytes := []string{one.Body}, len(one.Body)
		for most := 2 + p.die.IntN(arraySize-1); len(list) > 0 && len(bodies) < most && bare(list[0]) &&
			bytes+len(list[0].Body) < arrayBytes; list = list[1:] {
			bodies, bytes = append(bodies, list[0].Body), bytes+len(list[0].Body)
		}
		if len(bodies) > 1 {
			one.Body = inside(p.world.batches[0].Each, "["+strings.Join(bodies, ",")+"]")
			p.world.ledger.arrays++
		}
		out = append(out, one)
	}
	return out
}

// inside returns a value to which a path leads to an array. What the events take of the objects
// around them is in the events already.
func inside(path event.Path, array string) string {
	if name, rest, ok := path.First(); ok {
		return "{" + event.Quote(name) + ":" + inside(rest, array) + "}"
	}
	if rest, ok := path.Each(); ok {
		return "[" + inside(rest, array) + "]"
	}
	return array
}

// bare reports whether a message is an original without an envelope. Only such events can be put
// into an array.
func bare(one parcel) bool {
	if one.ours || len(one.Attributes) > 0 {
		return false
	}
	opened, err := envelope.Open(one.Message)
	return err == nil && opened.Kind == envelope.Kind{}
}
