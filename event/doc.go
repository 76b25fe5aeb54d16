// Package event holds the nouns that all other packages of Ingot use:
//
//   - [Document] is a parsed payload.
//   - [Event] is the fact itself.
//   - [Key] says where the event is stored.
//   - [Digest] identifies what the event says.
//   - [Item] is what is stored of an event.
//   - [Verdict] and [Refusal] say what became of an event.
//   - [Change], [Lane] and [Sequence] are what the table's stream later says about it.
//
// This package does no I/O, reads no clock and does not know AWS. Values never change once they are
// made, and are safe for concurrent use.
package event
