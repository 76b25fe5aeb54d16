// Package store keeps events and totals in two DynamoDB tables. It is the only package that knows DynamoDB.
//
// Put writes events with a verdict each. Start, Apply and the flags keep the aggregates. Total, Items and
// Totals read. Everything that can be lost, refused or doubled on the way is settled here: a result says
// what is proven, and what is not proven says so.
//
// A Store is safe for concurrent use. It starts no goroutine that outlives a call and sends no request after
// a call has returned.
package store
