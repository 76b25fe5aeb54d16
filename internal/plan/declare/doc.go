// Package declare reads a YAML file into a Go struct by the tags of its fields, and reports all
// that is wrong with it at once, each with its place and with what to write. [Decode] is the entry
// point.
//
// The tags are: yaml (the name in the file), need:"yes" (it must be there), like (what to write for
// it), min and max (of a number), list:"yes" (a text may be a list, with one line for each entry),
// size:"yes" (64KB), calendar:"yes" (1mo and 1y are durations too), entry (the members of an entry
// that may be a mapping). It does not know what the members mean: [Words] has what a message says
// of them.
package declare
