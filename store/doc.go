// Package store keeps events and totals in two DynamoDB tables.
//
// [New] makes a [Store] from a client and the names of the tables. [Store.Put] writes events and
// returns a verdict for each, and [Store.Items] reads all stored events. Package
// [github.com/ingot-events/ingot/store/query] answers questions about events and reads totals.
// Package [github.com/ingot-events/ingot/store/repair] erases events, and brings stored events into
// totals that were added later. Package [github.com/ingot-events/ingot/verify] compares all totals
// with the events.
//
// This package does not count events by itself. The streams function does that, through package
// [github.com/ingot-events/ingot/handler].
//
// Requests to DynamoDB can be lost, refused or carried out twice. This package handles all of that.
// A result says what is proven, and what is not.
//
// A Store is safe for concurrent use. It starts no goroutine that outlives a call, and it sends no
// request after a call has returned.
package store
