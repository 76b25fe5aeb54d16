// Package event holds the nouns that every other package of Ingot speaks in: the parsed payload
// (Document), the fact itself (Event), where it lives (Key), what it says (Digest), what is stored of
// it (Item), what became of it (Verdict, Refusal), and what the table's stream later says about it
// (Change, Lane, Sequence).
//
// Nothing here does I/O, reads a clock or knows AWS. Values are immutable once made and safe for
// concurrent use.
package event
