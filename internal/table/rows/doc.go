// Package rows reads and writes the items of the two tables: their form, the requests and how an
// answer is understood, the expressions of an update, and when a request is sent again.
//
// Knows: every attribute of every item, what the service answers, and how fast the table takes
// requests.
//
// May import: what internal/table may import.
//
// Never knows: why an item is written, or what a write means for the other items.
package rows
