// Package testworld is a world in this process, with one deployment: the engine with what
// template.yaml declares, its own [Clock], both functions, the mappings that call them, and the
// [Fault] that happens to a request. [New] makes a [World].
//
// Tests, the demo and package ingottest build on it. Each of them adds what only it needs, such as
// its own trouble. A world polls nothing by itself. Its user decides what happens next.
package testworld
