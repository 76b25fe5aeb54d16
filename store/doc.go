// Package store keeps events and totals in two DynamoDB tables. No other package of Ingot's
// functions sends requests to DynamoDB.
//
// [New] makes a [Store] from a client and the names of the tables. [Store.Put] writes events and
// returns a verdict for each, and [Store.Items] reads all stored events. Package
// [github.com/ingot-events/ingot/query] reads totals. [Store.Erase] removes an event for good.
// [Store.BeginPass] and [Store.Touch] bring stored events into an aggregate that was added later.
// Package [github.com/ingot-events/ingot/verify] completes that, and compares all totals with the
// events.
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
