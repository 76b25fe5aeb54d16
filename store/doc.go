// Package store keeps events and totals in two DynamoDB tables. It is the only package that knows DynamoDB.
//
// [New] makes a [Store] from a client and the tables' names. [Store.Put] writes events and returns a verdict for each.
// [Store.Total] reads the totals of one aggregate, [Store.Items] all stored events. [Store.Erase] removes an event for
// good. [Store.BeginPass] and [Store.Touch] bring stored events into an aggregate that was added later; package
// [github.com/ingot-events/ingot/verify] completes that, and compares all totals with the events.
//
// A store counts nothing by itself. The streams function does, through package
// [github.com/ingot-events/ingot/handler].
//
// Everything that can be lost, refused or doubled on the way to DynamoDB is settled here: a result says what is
// proven, and it says so where something is not proven.
//
// A Store is safe for concurrent use. It starts no goroutine that outlives a call, and it sends no request after a
// call has returned.
package store
