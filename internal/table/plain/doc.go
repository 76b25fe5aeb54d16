// Package plain puts single events, each by a condition on its own key, and judges an event by what
// is stored under its key.
//
// Knows: the states of a write, hot partition keys, and payloads in the payload bucket as far as a
// comparison needs them.
//
// May import: rows, payloads, and what internal/table may import.
//
// Never knows: parts, transactions, or totals.
package plain
