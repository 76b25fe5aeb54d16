package demo

import (
	"strings"

	"github.com/ingot-events/ingot/envelope"
)

const (
	// chanceArray is the chance that an event is the first of a message that is an array.
	chanceArray = 0.2
	// arraySize is how many events such a message has at most, and arrayBytes how many bytes.
	arraySize  = 10
	arrayBytes = 200_000
)

// together puts some of the originals that follow each other into arrays, if pipeline.yaml declares
// batches. All other messages stay as they are. If pipeline.yaml does not declare batches, together
// throws no die.
func (p *producer) together(list []parcel) []parcel {
	if !p.world.batches || p.world.trouble.calm {
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
			one.Body = "[" + strings.Join(bodies, ",") + "]"
			p.world.ledger.arrays++
		}
		out = append(out, one)
	}
	return out
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
