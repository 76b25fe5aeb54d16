// Package aggregate describes live totals: what pipeline.yaml declares of an aggregate ([Definition]), and what one
// event adds to it ([Contribution]).
//
// A pipeline lists its definitions ([github.com/ingot-events/ingot/pipeline.Pipeline.Definitions]) and computes the
// contributions of an item ([github.com/ingot-events/ingot/pipeline.Pipeline.Contributions]). The totals themselves
// are read with [github.com/ingot-events/ingot/store.Store.Total].
//
// How a batch of changes is counted exactly once is not part of this package. The store and the streams function do
// that.
package aggregate
