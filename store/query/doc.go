// Package query answers questions about stored events, and reads totals. A [Reader] answers by the
// patterns that pipeline.yaml declares ([Reader.Read]). It reads the totals of an aggregate by what
// it is grouped by ([Reader.Total]) or in the order of their values ([Reader.Top]). It never
// writes.
package query
