// Package aggregate describes live totals: what pipeline.yaml declares of an aggregate
// ([Definition]), and what one event adds to it ([Contribution]).
//
// A pipeline lists its definitions ([github.com/ingot-events/ingot/pipeline.Pipeline.Definitions])
// and computes the contributions of an item
// ([github.com/ingot-events/ingot/pipeline.Pipeline.Contributions]).
// [github.com/ingot-events/ingot/store/query.Reader.Total] reads the totals themselves.
//
// This package does not count. The store and the streams function count each batch of changes
// exactly once.
package aggregate
