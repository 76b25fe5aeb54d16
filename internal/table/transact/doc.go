// Package transact puts events in transactions: an event with its parts and claims, and an event
// with the totals that its put moves.
//
// Knows: how messages are packed into transactions, which of them a refusal names, and what goes on
// alone.
//
// May import: rows, generations, plain, and what internal/table may import.
//
// Never knows: payloads on their way to the payload bucket, or messages that need no transaction.
package transact
