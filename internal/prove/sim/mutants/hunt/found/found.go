// Package found holds what a hunt prints ([Found]).
package found

// Found is the outcome of a hunt. Check is empty if the hunt found nothing.
type Found struct {
	Worlds int    // how many were lived
	Check  string // the check that broke first, among those looked for
	Seed   uint64
	Detail string
	Others map[string]int // how many worlds broke another promise first, by promise
}
