// Package quarantine keeps what cannot be stored, counted or published until a person looks at it:
// [Letter] is a message on its way there, [Note] says why, and [New] makes the queue.
//
// It knows events and their refusals, and what SQS takes. It knows nothing of tables.
package quarantine
