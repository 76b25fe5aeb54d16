// Package aggregate is the arithmetic of live totals: what one event's item adds to an aggregate
// (Contribution), what a batch of changes does to one aggregate item (Update, folded into a Delta), which
// lane and mark make that exactly once, and the fingerprint that proves it.
//
// It is pure: no clock, no I/O, no AWS. The store turns a Delta into one conditional write.
package aggregate
