package explain

import (
	"slices"

	"github.com/ingot-events/ingot/pipeline"
)

// shows says that a keyed hash is in what is said of the message.
func (x *Explanation) shows(p *pipeline.Pipeline) bool {
	hashed := func(part string) bool { return p.Hashes(x.Type, part) }
	return x.Key != nil && hashed("key") ||
		x.Digest != "" && hashed("id") || // an item was planned; else the id is the envelope's
		slices.ContainsFunc(x.Indexes, func(i Index) bool { return i.Missing == "" && hashed(i.Name) }) ||
		slices.ContainsFunc(x.Aggregates, func(a Aggregate) bool { return a.NotCounted == "" && hashed("aggregates."+a.Name) })
}
