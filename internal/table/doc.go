// Package table has the inside of the two tables. Users of the library see package store instead.
//
// May import: base, plan, and every public package up to pipeline.
//
// Never knows: SQS, Lambda, or the batch that a change came in.
package table
