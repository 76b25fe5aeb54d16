// Package testworld is one deployment in this process: the engine with what template.yaml declares, a [Clock] of its own,
// both functions, the mappings that call them, and the [Fault] that befalls a request. [New] makes a [World].
//
// Tests, scenarios, the demo and package ingottest build on it; each adds what it alone needs, such as its own
// trouble. It polls nothing by itself: whoever has a world decides what happens next.
package testworld
