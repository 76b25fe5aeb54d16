// Package values has the expressions of an aggregate's values, such as "sum total_cents?": their
// one spelling, and the amount that one payload supplies.
//
// It knows payloads and the operations of aggregates. It knows no event types.
package values
