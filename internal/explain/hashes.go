package explain

import "slices"

// shows reports whether a keyed hash is in what is said of the message. parts are what hmac makes a part of.
func (x *Explanation) shows(parts []string) bool {
	hashed := func(part string) bool { return slices.Contains(parts, part) }
	return x.Key != nil && hashed("key") ||
		x.Digest != "" && hashed("id") || // an item was planned; else the id is the envelope's
		slices.ContainsFunc(x.Indexes, func(i Index) bool { return i.Missing == "" && hashed(i.Name) }) ||
		slices.ContainsFunc(x.Aggregates, func(a Aggregate) bool { return a.NotCounted == "" && hashed("aggregates."+a.Name) })
}
