// Package sim runs the real handlers and the real store code in seeded worlds. Everything that can
// go wrong does go wrong there. After every step the world checks that nothing was lost, doubled or
// silently dropped. [Run] makes the world of one seed and lives it, [Live] lives a given [Plan],
// and [Shrink] makes a failing plan smaller.
//
// One seed makes one world: a [Plan], an engine with its own clock, producers, mappings, sweeps and
// people. Every request of a handler yields to a scheduler. The scheduler decides, from the seed
// alone, who runs next and what happens to the request. Only one goroutine runs at a time, so the
// same seed makes the same trace.
//
// What is below knows no feature: package stage has tasks, invocations, requests and their faults,
// package model works out what must be stored, and testworld is the deployment. A feature draws its
// part of the plan, acts and checks in a file of its own.
package sim
