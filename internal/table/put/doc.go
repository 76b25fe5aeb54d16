// Package put stores messages in stages: payloads go to the payload bucket, then messages that need
// a transaction are put, then the others, and then the parts of what is stored.
//
// Knows: which stage takes a message, and what one stage's answer means for the next.
//
// May import: rows, payloads, plain, transact, and what internal/table may import.
//
// Never knows: how a single request is written, or a total.
package put
