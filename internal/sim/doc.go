// Package sim runs the real handlers and the real store code in seeded worlds in which everything that may go
// wrong does, and checks after every step that nothing was lost, doubled or silently dropped.
//
// One seed makes one world: a Plan, an engine with a clock of its own, producers, mappings, sweeps, people.
// Every request of a handler yields to a scheduler that decides, from the seed, who goes on and what becomes
// of the request. All of it runs on one goroutine at a time, so the same seed makes the same trace.
package sim
