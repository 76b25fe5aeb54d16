// Package found is what a hunt prints.
package found

// Found is what became of a hunt. Check is empty if nothing was found.
type Found struct {
	Worlds int    // lived
	Check  string // that was broken first, of those looked for
	Seed   uint64
	Detail string
	Others map[string]int // worlds that broke another promise first
}
