package explain

import "slices"

// shows reports whether the explanation contains a keyed hash. parts are the parts of the
// declaration that use hmac.
func (x *Explanation) shows(parts []string) bool {
	hashed := func(part string) bool { return slices.Contains(parts, part) }
	return x.Key != nil && hashed("key") ||
		x.Digest != "" && hashed("id") || // an item was planned; otherwise the id is the envelope's
		slices.ContainsFunc(x.Indexes, func(i Index) bool { return i.Missing == "" && hashed(i.Name) }) ||
		slices.ContainsFunc(x.Aggregates, func(a Aggregate) bool { return a.NotCounted == "" && hashed("aggregates."+a.Name) })
}
