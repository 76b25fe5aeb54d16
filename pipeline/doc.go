// Package pipeline compiles pipeline.yaml, or a [Spec] declared in Go, into a checked [Pipeline]. A
// Pipeline turns an event into the item to store.
//
// [Load] reads a file, and [New] takes a Spec. Both find everything that can be wrong with a
// declaration, and report all of it at once as [Mistakes]. [Pipeline.Plan] and [Pipeline.PlanEvent]
// find everything that can be wrong with one event, and return it as an [*event.Refusal]. So the
// streams function never meets a planned item that it cannot count.
//
// A Pipeline is immutable and safe for concurrent use. It does no I/O after Load and reads no
// clock.
package pipeline
