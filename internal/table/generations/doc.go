// Package generations reads and writes the heads of the generations of totals: what each counts,
// whether it is building, behind or flagged, and what the deployed pipeline.yaml is. A start
// compares all heads with the pipeline.
//
// Knows: every item of the aggregates table that is not a total.
//
// May import: rows, and what internal/table may import.
//
// Never knows: how a change is added to a total, or how an event is put.
package generations
