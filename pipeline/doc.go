// Package pipeline turns pipeline.yaml, or a Spec declared in Go, into a checked and compiled Pipeline,
// and an event into the item to store.
//
// Everything that can be wrong with a declaration is found when it is compiled, and all of it is reported
// at once (Mistakes). Everything that can be wrong with one event is found when it is planned, and is a
// *event.Refusal; what was planned never surprises the stream later.
//
// A Pipeline is immutable and safe for concurrent use. It does no I/O after Load and reads no clock.
package pipeline
