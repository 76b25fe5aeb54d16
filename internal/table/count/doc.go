// Package count adds changes of events to their totals, each exactly once: under marks, or under
// receipts.
//
// Knows: the conditions by which an update that is repeated, late, or sent by a function that was
// replaced adds nothing.
//
// May import: rows, generations, and what internal/table may import.
//
// Never knows: how an event is put, or the stream that a change came by.
package count
